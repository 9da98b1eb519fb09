// How the server is started and for which files: apart from the editor's own module, so that it can be tested.
"use strict";

const path = require("node:path");

/** The command line of the server. `opened` is the opened folder, if there is one. */
function serverOptions({ path: program, folder, opened }) {
  const args = ["lsp"];
  if (folder) args.push("-C", opened ? path.resolve(opened, folder) : folder);
  return { command: program || "weir", args, options: opened ? { cwd: opened } : {} };
}

/** SQL of any dialect's extension, the programs of the pipeline, and the configuration. */
function clientOptions() {
  return {
    documentSelector: [
      { scheme: "file", pattern: "**/*.sql" },
      { scheme: "file", pattern: "**/weir.yaml" },
    ],
  };
}

module.exports = { serverOptions, clientOptions };
