// What a page has of the engine: window.optratio.ask. The engine runs in a worker, so that the page never freezes. A step of a job that is in the
// way of a newer question for too long, or that passes its limit of time, is ended together with its worker; another one, which has the engine
// ready, takes its place. The answer so far stays.
"use strict";
window.optratio = (() => {
  const patience = 300;    // milliseconds that a newer question waits for a step
  const grace = 1000;      // milliseconds that a step has beyond its limit, which nothing else ends: it may see its limit late
  const pause = 350;       // milliseconds without a newer question before an answer is made better

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

  // A function under audit, in a frame without an origin (front/frame.js). One that does not answer in time is ended with its frame and started
  // anew, three times.
  const sandbox = (code) => {
    const silence = 2000;
    let frame = null, port = null, loaded = null;
    let ended = 0;
    let broken = "";
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
        if (broken || ended >= 3) { reply({ error: broken || "it does not answer within 2 s, and was not asked any more" }); return; }
        if (!frame) begin();
        const mine = frame;
        let late = 0;
        loaded.then(() => {
          if (mine === frame) late = setTimeout(() => { end(); ended++; reply({ error: "it does not answer within 2 s" }); }, silence);
        });
        port.onmessage = ({ data }) => {
          clearTimeout(late);
          port.onmessage = null;
          if (typeof data?.broken === "string") {
            end();
            broken = data.broken || "it is no function";
            reply({ error: broken.slice(0, 500) });
          } else {
            reply(plain(data ?? {}));
          }
        };
        port.postMessage(question);
      },
    };
  };

  let worker = null, spare = null;
  let running = null; // the job whose step the worker takes
  let waiting = null; // the newest job, where it cannot begin yet
  let since = 0, alarm = 0;

  const replace = () => {
    worker.terminate();
    if (running && running.box) running.box.end();
    worker = running = null;
  };

  const allow = (job, limit) => {
    clearTimeout(alarm);
    alarm = setTimeout(() => {
      if (running !== job) return;
      replace();
      if (!job.stopped) {
        if (!job.answered) job.show(`<p class="verdict bad" role="alert">There is no answer within the time limit of a page; the command has none.</p>`);
        job.say("done: ended at its time limit" + (job.answered ? "; what is shown is certified" : ""));
      }
      next();
    }, limit + grace);
  };

  const begin = (job) => {
    if (!worker) { worker = spare || spawn(); spare = null; }
    const mine = worker;
    running = job;
    since = performance.now();
    mine.onmessage = ({ data }) => hear(mine, job, data);
    mine.onerror = (e) => {
      if (mine !== worker) return;
      replace();
      if (!job.stopped) job.say("the engine ended: " + (e.message || "it needs more memory than there is"));
      next();
    };
    mine.postMessage(job.begun ? {} : { view: job.view, form: job.form });
    job.begun = true;
  };

  const next = () => {
    const job = waiting;
    waiting = null;
    if (job && !job.stopped) begin(job);
  };

  const hear = (from, job, data) => {
    if (data.kind === "question") {
      job.box = job.box || sandbox(new URLSearchParams(job.form).get("code"));
      job.box.ask([data.scores, data.epsilon, data.sensitivity], (reply) => { if (from === worker) from.postMessage({ reply }); });
      return;
    }
    if (data.kind === "working") {
      if (data.value) allow(job, data.value);
      if (!job.stopped) job.say(data.text, true);
      return;
    }
    running = null;
    if (!spare) spare = spawn(); // not before the first answer, which it would make late
    clearTimeout(alarm);
    if (job.box && !data.value) job.box.end();
    if (!job.stopped) {
      job.show(data.text);
      job.answered = true;
      if (data.value) {
        setTimeout(() => { if (!job.stopped && !running) begin(job); }, pause);
      } else {
        job.say("done");
      }
    }
    next();
  };

  const hurry = () => {
    if (!waiting || !running) return;
    const left = since + patience - performance.now();
    if (left > 0) { setTimeout(hurry, left); return; }
    replace();
    next();
  };

  return {
    // ask has a form's question answered: say is told what happens, show is given ever better answers. It returns what stops it.
    ask(view, form, say, show) {
      const job = { view, form, say, show };
      engine.catch((e) => say("the engine cannot be loaded: " + e.message));
      if (!worker && !running) say("loading the engine", true);
      waiting = job;
      if (running) engine.then(hurry); else next();
      return () => { job.stopped = true; };
    },
  };
})();
