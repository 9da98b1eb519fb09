// The extension as the editor runs it: its real client library talks to the real server. Only the editor's own module is
// a stand-in, as far as the client needs one. Runs where the dependencies are installed and WEIR names the program.
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { pathToFileURL } = require("node:url");
const { serverOptions } = require("../options");

let rpc;
try {
  rpc = require("vscode-languageserver-protocol/node");
} catch {
  rpc = undefined;
}
const program = process.env.WEIR;
const skip = !program ? "WEIR does not name the program" : !rpc ? "dependencies are not installed (npm ci)" : false;

test("the server starts over stdio, says what is wrong, completes, and ends", { skip }, async () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "weir_vscode_"));
  fs.writeFileSync(path.join(root, "weir.yaml"), "lakes: {main: {catalog: lake/m.sqlite, data: lake/m}}\n");
  fs.mkdirSync(path.join(root, "models"));
  const { command, args, options } = serverOptions({ path: program, folder: "", opened: root });
  const server = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const published = new Promise((resolve) =>
    connection.onNotification(rpc.PublishDiagnosticsNotification.type, (params) => {
      if (params.diagnostics.length > 0) resolve(params);
    }),
  );
  connection.listen();
  try {
    const { capabilities } = await connection.sendRequest(rpc.InitializeRequest.type, {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: {},
      workspaceFolders: null,
    });
    assert.equal(capabilities.textDocumentSync.change, rpc.TextDocumentSyncKind.Incremental);
    await connection.sendNotification(rpc.InitializedNotification.type, {});
    const uri = pathToFileURL(path.join(root, "models", "a.sql")).href;
    const text = "-- materialize ducklake://main/a kee=x\nSELECT 1 AS x\n";
    await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "sql", version: 1, text },
    });
    const found = await published;
    assert.equal(found.uri, uri);
    assert.equal(found.diagnostics[0].code, "W0108");
    const items = await connection.sendRequest(rpc.CompletionRequest.type, {
      textDocument: { uri },
      position: { line: 0, character: 3 },
    });
    assert.ok(items.some((item) => item.label === "data_test"));
    await connection.sendRequest(rpc.ShutdownRequest.type);
    await connection.sendNotification(rpc.ExitNotification.type);
    assert.equal(await ended, 0);
  } finally {
    server.kill();
    connection.dispose();
    fs.rmSync(root, { recursive: true });
  }
});
