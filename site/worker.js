// The worker that holds the engine. It is sent the compiled module once, then questions: a view with what its form says, or nothing for the
// next step of the course that it is on. It posts what the engine says (with "answer", whether a better
// one may follow; with "working", in how many milliseconds the step should end, 0 where that was said), and passes on the engine's questions to a function under audit.
"use strict";
importScripts("wasm_exec.js");

let asked = null; // called with the answer of the function under audit
let early = [];   // what came before the engine was ready

globalThis.optratioPost = (kind, text, value) => postMessage({ kind, text, value });
globalThis.optratioReady = () => { for (const m of early) globalThis.optratioStep(...m); early = null; };
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
    const step = data.view === undefined ? [] : [data.view, data.form];
    if (early) early.push(step); else globalThis.optratioStep(...step);
  }
};
