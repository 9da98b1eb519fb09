// Starts `weir lsp` for the opened project and lets the client library do the rest.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { serverOptions, clientOptions } = require("./options");

let client;

async function start() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const settings = vscode.workspace.getConfiguration("weir");
  client = new LanguageClient(
    "weir",
    "weir",
    serverOptions({ path: settings.get("path"), folder: settings.get("folder"), opened: folder }),
    clientOptions(),
  );
  try {
    await client.start();
  } catch (problem) {
    client = undefined;
    vscode.window.showErrorMessage(`weir cannot be started (${problem.message}). The setting weir.path names the program.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("weir.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!change.affectsConfiguration("weir.path") && !change.affectsConfiguration("weir.folder")) return;
      await stop();
      await start();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
