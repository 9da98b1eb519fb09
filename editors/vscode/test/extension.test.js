// What the extension does with the editor, whose module stands in here: it starts a client, starts it anew when its
// settings change or somebody asks, and says when it cannot.
"use strict";

const assert = require("node:assert");
const Module = require("node:module");
const test = require("node:test");

const clients = [];
let refuses = false;
class LanguageClient {
  constructor(id, name, server, client) {
    Object.assign(this, { id, server, client, running: false });
    clients.push(this);
  }
  async start() {
    if (refuses) throw new Error("not found");
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
}

const settings = { path: "weir", folder: "" };
const editor = { commands: {}, errors: [], changed: undefined };
const vscode = {
  workspace: {
    workspaceFolders: [{ uri: { fsPath: "/home/a" } }],
    getConfiguration: () => ({ get: (name) => settings[name] }),
    onDidChangeConfiguration: (listener) => {
      editor.changed = listener;
      return {};
    },
  },
  window: { showErrorMessage: (text) => editor.errors.push(text) },
  commands: {
    registerCommand: (name, run) => {
      editor.commands[name] = run;
      return {};
    },
  },
};

const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
const extension = require("../extension");
Module._load = load;

test("a client runs while the extension is active, and only one", async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(context.subscriptions.length, 2);
  assert.deepEqual(clients[0].server.args, ["lsp"]);
  assert.ok(clients[0].running);
  await editor.commands["weir.restart"]();
  assert.deepEqual(clients.map((one) => one.running), [false, true]);
  settings.folder = "shop";
  await editor.changed({ affectsConfiguration: (name) => name === "weir.folder" });
  assert.deepEqual(clients[2].server.args, ["lsp", "-C", "/home/a/shop"]);
  await editor.changed({ affectsConfiguration: () => false });
  assert.equal(clients.length, 3);
  await extension.deactivate();
  assert.ok(clients.every((one) => !one.running));
});

test("a program that cannot be started is said, and can be tried again", async () => {
  refuses = true;
  await editor.commands["weir.restart"]();
  assert.match(editor.errors[0], /weir\.path/);
  refuses = false;
  await editor.commands["weir.restart"]();
  assert.ok(clients.at(-1).running);
  await extension.deactivate();
});
