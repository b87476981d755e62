// What a page has of the engine: window.optratio asks a form's question. The engine runs in a worker, so that the page never freezes. A step of a job that is
// stopped, or that passes its limit of time, is ended together with its worker; another one, which has the engine ready, takes its place.
"use strict";
window.optratio = (() => {
  const grace = 1000; // milliseconds that a step has beyond its limit, which nothing else ends: it may see its limit late
  const pause = 350;  // milliseconds without a newer question before an answer is made better

  const load = async () => {
    const packed = await (await fetch("engine.wasm.gz")).arrayBuffer();
    const head = new Uint8Array(packed, 0, 2);
    let body = new Blob([packed]).stream(); // some servers unpack what they send
    if (head[0] === 0x1f && head[1] === 0x8b) body = body.pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compileStreaming(new Response(body, { headers: { "Content-Type": "application/wasm" } }));
  };
  const engine = load();
  engine.then(() => performance.mark("engine"), () => {});

  const spawn = () => {
    const worker = new Worker("worker.js");
    engine.then((module) => worker.postMessage({ module }), () => {});
    return worker;
  };

  // What the function answers is data of its own making: a list of numbers or a message is taken over, nothing else.
  const plain = ({ pmf, error }) => {
    if (typeof error === "string") return { error: error.slice(0, 500) };
    if (!Array.isArray(pmf) || pmf.length > 1000) return { error: "it returned no list of probabilities" };
    return { pmf: Array.from(pmf, (p) => (typeof p === "number" ? p : NaN)) };
  };

  // A function under audit, in a frame without an origin (front/frame.js). One that fails, or does not answer in time, is not asked again.
  const sandbox = (code) => {
    const silence = 2000;
    let frame = null, port = null, loaded = null;
    const source = `"use strict";
const mechanism = (${code}
);
onmessage = ({ data: [scores, epsilon, sensitivity] }) => {
  try {
    const pmf = Array.from(mechanism(scores, epsilon, sensitivity), Number);
    postMessage({ pmf });
  } catch (e) { postMessage({ error: String(e) }); }
};`;
    const end = () => {
      if (frame) { frame.remove(); port.close(); }
      frame = null;
    };
    const begin = () => {
      const channel = new MessageChannel();
      port = channel.port1;
      frame = document.createElement("iframe");
      frame.sandbox = "allow-scripts";
      frame.hidden = true;
      frame.title = "the function under audit";
      frame.srcdoc = document.querySelector("form[data-frame]").dataset.frame;
      loaded = new Promise((resolve) => { frame.onload = resolve; });
      loaded.then(({ target }) => target.contentWindow?.postMessage(source, "*", [channel.port2])); // to its first document: nothing leads it elsewhere
      document.body.append(frame);
    };
    return {
      end,
      ask(question, reply) {
        if (!frame) begin();
        const mine = frame;
        let late = 0;
        loaded.then(() => {
          if (mine === frame) late = setTimeout(() => { end(); reply({ error: "it does not answer within 2 s" }); }, silence);
        });
        port.onmessage = ({ data }) => {
          clearTimeout(late);
          port.onmessage = null;
          if (typeof data?.broken === "string") {
            end();
            reply({ error: (data.broken || "it is not a function").slice(0, 500) });
          } else {
            reply(plain(data ?? {}));
          }
        };
        port.postMessage(question);
      },
    };
  };

  let worker = null, spare = null; // at rest, with the engine ready or soon

  // ask calls hear with what happens: what the engine says, and "failed" where there is none any more. It returns what stops it.
  return (view, form, files, hear) => {
    const mine = worker || spare || spawn();
    if (mine === spare) spare = null;
    worker = null;
    let resting = false, stopped = false, answered = false;
    let alarm = 0, box = null;
    engine.catch((e) => hear({ kind: "failed", text: "error: the engine cannot be loaded: " + e.message }));
    const step = (message) => { resting = false; mine.postMessage(message); };
    const stop = () => {
      if (stopped) return;
      stopped = true;
      clearTimeout(alarm);
      if (box) box.end();
      if (resting) worker = mine; else mine.terminate();
    };
    const allow = (limit) => {
      clearTimeout(alarm);
      alarm = setTimeout(() => {
        stop();
        const text = "ended at its time limit";
        if (!answered) hear({ kind: "answer", failed: true, head: `<p class="verdict bad" role="alert">There is no answer within the time limit of a page, so it ${text}; the command has none.</p>` });
        else hear({ kind: "failed", text: text + "; what is shown is certified" });
      }, limit + grace);
    };
    mine.onerror = (e) => {
      if (stopped) return;
      stop();
      hear({ kind: "failed", text: "error: the engine ended: " + (e.message || "it needs more memory than there is") });
    };
    mine.onmessage = ({ data }) => {
      if (stopped) return;
      if (data.kind === "question") {
        box = box || sandbox(new URLSearchParams(form).get("code"));
        box.ask([data.scores, data.epsilon, data.sensitivity], (reply) => { if (!stopped) mine.postMessage({ reply }); });
      } else if (data.kind === "working") {
        if (data.value) allow(data.value);
        hear(data);
      } else {
        clearTimeout(alarm);
        answered = resting = true;
        if (!spare) spare = spawn(); // not before the first answer, which it would make late
        if (data.more) setTimeout(() => { if (!stopped) step({}); }, pause);
        else stop();
        hear(data);
      }
    };
    hear({ kind: "working", text: performance.getEntriesByName("engine").length ? "working" : "loading the engine" });
    step({ view, form, files });
    return stop;
  };
})();
