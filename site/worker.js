// The worker that holds the engine. It is sent the compiled module once, then questions: a view with what its form says and its long files, or nothing for the
// next step of the course that it is on. It posts what the engine says, which package site's engine.go describes, and passes on the engine's questions to a
// function under audit.
"use strict";
importScripts("wasm_exec.js");

let asked = null; // called with the answer of the function under audit
let ready = null;
const engine = new Promise((resolve) => { ready = resolve; });

globalThis.optratioPost = (event) => postMessage(JSON.parse(event));
globalThis.optratioReady = () => ready();
globalThis.optratioAsk = (scores, epsilon, sensitivity, callback) => {
  asked = callback;
  postMessage({ kind: "question", scores, epsilon, sensitivity });
};

onmessage = async ({ data }) => {
  if (data.module) {
    const go = new Go();
    const instance = await WebAssembly.instantiate(data.module, go.importObject);
    go.run(instance).then(() => { throw new Error("the engine ended"); });
  } else if (data.reply) {
    const callback = asked;
    asked = null;
    if (callback) callback(data.reply.pmf, data.reply.error);
  } else {
    const files = [];
    for (const [name, file] of data.files || []) files.push(name, new Uint8Array(await file.arrayBuffer()));
    await engine;
    globalThis.optratioStep(...(data.view === undefined ? [] : [data.view, data.form, ...files]));
  }
};
