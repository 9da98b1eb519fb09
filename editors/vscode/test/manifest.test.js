// The manifest says what is there, and nothing that is not.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

const root = path.join(__dirname, "..");
const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
const lock = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
const source = fs.readFileSync(path.join(root, "extension.js"), "utf8");

test("the entry point and every field that an editor needs are there", () => {
  for (const field of ["name", "publisher", "version", "displayName", "description", "engines", "main"])
    assert.ok(manifest[field], field);
  assert.ok(fs.existsSync(path.join(root, manifest.main)));
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
});

test("every command of the manifest is registered, and every setting is read", () => {
  for (const { command } of manifest.contributes.commands) assert.ok(source.includes(`"${command}"`), command);
  for (const name of Object.keys(manifest.contributes.configuration.properties)) {
    if (name === "weir.trace.server") continue; // read by the client library
    assert.ok(source.includes(`settings.get("${name.replace("weir.", "")}")`), name);
  }
});

test("dependencies are pinned, by content and without a registry's address", () => {
  for (const version of Object.values(manifest.dependencies)) assert.match(version, /^\d/);
  for (const [name, entry] of Object.entries(lock.packages)) {
    if (name === "") continue;
    assert.ok(entry.integrity, name);
    assert.equal(entry.resolved, undefined, name);
  }
});
