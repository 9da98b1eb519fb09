"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { serverOptions, clientOptions } = require("../options");

test("the program of the setting is started in the opened folder", () => {
  assert.deepEqual(serverOptions({ path: "/opt/weir", folder: "", opened: "/home/a" }), {
    command: "/opt/weir",
    args: ["lsp"],
    options: { cwd: "/home/a" },
  });
});

test("without settings it is weir, and a project below is named", () => {
  const { command, args } = serverOptions({ folder: "shop", opened: "/home/a" });
  assert.equal(command, "weir");
  assert.deepEqual(args, ["lsp", "-C", "/home/a/shop"]);
});

test("models and the configuration are spoken about", () => {
  const patterns = clientOptions().documentSelector.map((one) => one.pattern);
  assert.deepEqual(patterns, ["**/*.sql", "**/weir.yaml"]);
});
