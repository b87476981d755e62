// The pages work without this script: they have answers to the questions as they stand, and the server takes forms. With it, fields have sliders, and
// answers come as one types. Whoever answers, the server or the engine in the page (page.js, loaded before), is asked through one function, which is
// told what to call with what happens and returns what stops it.
"use strict";
(() => {
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (e) => e.preventDefault()); // a page stays, whatever is dropped on it
  const form = document.querySelector("form[data-view]");
  if (!form) return;
  const [head, answer, state, stop] = ["head", "answer", "state", "stop"].map((id) => document.getElementById(id));
  const tools = document.querySelector(".tools");
  const when = form.dataset.when; // typed: at every change; sent: when the form is; told: the same, and never because of a link alone
  const inPage = document.documentElement.dataset.engine === "worker";
  const element = (name, ...inside) => { const e = document.createElement(name); e.append(...inside); return e; };
  const button = (text, does) => { const b = element("button", text); b.type = "button"; b.className = "second"; b.addEventListener("click", does); return b; };

  let late = 0;
  const say = (text, busy) => {
    state.textContent = text;
    state.classList.toggle("busy", Boolean(busy));
    clearTimeout(late);
    if (busy) {
      late = setTimeout(() => { stop.hidden = false; head.classList.add("old"); answer.classList.add("old"); }, 300);
    } else {
      stop.hidden = true;
      for (const part of [head, answer]) part.classList.remove("old");
    }
  };

  // What is wrong with a field is said beside it.
  const wrong = (name, text) => {
    for (const field of form.querySelectorAll("[aria-invalid]")) { field.removeAttribute("aria-invalid"); field.removeAttribute("aria-describedby"); }
    for (const said of form.querySelectorAll(".wrong")) said.remove();
    const field = name && form.querySelector(`#${CSS.escape(name)}`);
    if (!field) return;
    const said = element("span", text);
    said.className = "wrong";
    said.id = name + "-wrong";
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", said.id);
    field.parentElement.append(" ", said);
    for (let d = field.closest("details"); d; d = null) d.open = true;
  };

  const show = (event) => {
    const open = [...answer.querySelectorAll("details")].map((d) => d.open);
    head.innerHTML = event.head;
    if (!event.failed) answer.innerHTML = event.text; // what was answered before stays below what is wrong now
    answer.querySelectorAll("details").forEach((d, i) => { d.open = open[i] || false; });
    const alert = head.querySelector("[role=alert]");
    wrong(alert?.dataset.field, alert?.textContent);
    offer();
    performance.mark("answer");
  };

  // Files that are too long to be shown: what is asked has them whole, by the names of their fields.
  const files = new Map();

  // The server streams what happens, an object a line.
  const fromServer = (asked, files, hear) => {
    const control = new AbortController();
    (async () => {
      const body = new URLSearchParams(asked);
      for (const [name, file] of files) body.set(name, await textOf(file));
      const response = await fetch(form.getAttribute("action") + "?part=1", { method: "POST", body, signal: control.signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = "", part; !(part = await reader.read()).done;) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) hear(JSON.parse(line));
      }
    })().catch((e) => { if (e.name !== "AbortError") hear({ kind: "failed", text: "the server does not answer" }); });
    return () => control.abort();
  };
  const source = inPage ? (asked, files, hear) => window.optratio(form.dataset.view, asked, files, hear) : fromServer;

  // A newer question waits until the one before has an answer, for 300 ms at most; of several that wait, the newest is asked.
  const patience = 300;
  let now = null, next = null;
  const end = () => { if (now) now.stop(); now = null; };
  const begin = () => {
    const question = next;
    next = null;
    end();
    now = question;
    question.stop = source(question.asked, question.files, (event) => hear(question, event));
  };
  const hear = (question, event) => {
    if (question !== now) return;
    if (event.kind === "working") {
      question.since = question.since || (event.value && performance.now());
      say(event.text, true);
      return hurry();
    }
    if (event.kind === "answer") show(event);
    question.answered = question.answered || event.kind === "answer";
    if (next) return begin();
    if (event.kind === "answer" && event.more) return undefined;
    now = null;
    say(event.kind === "failed" ? event.text : event.failed ? "error: " + head.querySelector("[role=alert]").textContent.trim() : "done" + (question.long ? "; too long for a link: send the text itself" : ""));
    answer.classList.toggle("old", Boolean(event.failed));
  };
  const hurry = () => {
    if (!next || !now) return;
    if (now.answered) begin();
    else if (now.since) setTimeout(() => { if (next && now && performance.now() - now.since >= patience) begin(); }, Math.max(0, now.since + patience - performance.now()));
  };
  stop.addEventListener("click", () => {
    const answered = now?.answered;
    next = null;
    end();
    say("stopped" + (answered ? "; what is shown is certified" : ""));
  });

  // A link holds all that the form says, but for long texts.
  const longest = 6000;
  let address = 0;
  const ask = (proof) => {
    clearTimeout(timer);
    timer = 0;
    // A lone surrogate would be replaced on the way, and two names might become one.
    if ([...form.elements].some((field) => field.value?.isWellFormed?.() === false)) { say("error: the text has half a character, which is not Unicode"); return; }
    const fields = new FormData(form);
    for (const name of files.keys()) fields.delete(name);
    const asked = new URLSearchParams(fields).toString();
    const long = files.size > 0 || asked.length > longest;
    clearTimeout(address); // browsers limit how often it may change
    address = setTimeout(() => history.replaceState(null, "", location.pathname + (long ? "" : (inPage ? "#" : "?") + asked)), 200);
    next = { asked: asked + (proof ? "&certificate=yes" : ""), files: new Map(files), long };
    if (!now) begin(); else hurry();
    if (when !== "typed") say("working", true);
  };
  let timer = 0;
  const changed = () => {
    if (when === "typed") { timer = timer || setTimeout(ask, 50); return; }
    end();
    say("not asked yet"); // what is shown was asked before
    for (const part of [head, answer]) part.classList.add("old");
  };

  // What can be done with an answer.
  const save = (name, type, text) => {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const name = () => "optratio-" + (form.dataset.view || "page");
  const copy = button("Copy link", async () => {
    try { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; } catch { copy.textContent = "Copy the address above"; }
    setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
  });
  const page = button("Download page", () => {
    const style = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
    const text = `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<title></title>\n<style>\n${style}\n</style>\n</head>\n<body>\n<main>\n${head.innerHTML}${answer.innerHTML}</main>\n</body>\n</html>\n`;
    save(name() + ".html", "text/html", text.replace("<title></title>", () => element("div", element("title", document.title)).innerHTML));
  });
  const table = button("Download table", () => {
    const cell = (c) => (/[",\n]/.test(c.textContent) ? `"${c.textContent.replaceAll('"', '""')}"` : c.textContent);
    save(name() + ".csv", "text/csv", [...answer.querySelector("table").rows].map((row) => [...row.cells].map(cell).join(",") + "\n").join(""));
  });
  const offer = () => {
    const proof = answer.querySelector("a[download$='.cert']")?.cloneNode();
    if (proof) { proof.textContent = "Download certificate"; proof.className = "second"; }
    tools.replaceChildren(copy, page, ...(answer.querySelector("table") ? [table] : []), ...(proof ? [proof] : []));
    tools.hidden = Boolean(head.querySelector("[role=alert]"));
  };
  offer();

  // fill puts what a link says into the form. A mechanism that has no box is named in the field for others.
  const fill = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    for (const name of new Set(said.keys())) {
      let all = said.getAll(name).join(",").split(",").filter(Boolean);
      for (const box of form.querySelectorAll(`input[type=checkbox][name="${CSS.escape(name)}"]`)) {
        box.checked = all.includes(box.value);
        all = all.filter((v) => v !== box.value);
      }
      const field = form.querySelector(`#${CSS.escape(name)}, select[name="${CSS.escape(name)}"]`);
      if (!field) continue;
      field.value = field.type === "textarea" ? said.get(name) : all.join(",");
      for (let d = field.closest("details"); d && field.selectedIndex > 0; d = null) d.open = true;
    }
    for (const field of form.elements) field.dispatchEvent(new CustomEvent("filled"));
    return said.size > 0;
  };

  // A slider beside a field says the same. That of ε goes over e^ε where the switch says so.
  const slider = (label, value, least, most, step, moved) => {
    const s = element("input");
    s.type = "range"; s.min = least; s.max = most; s.step = step; s.value = value;
    s.setAttribute("aria-label", label);
    s.addEventListener("input", () => moved(s.value));
    return s;
  };
  for (const field of form.querySelectorAll("[data-least]")) {
    const { least, most, step } = field.dataset;
    const s = slider(form.querySelector(`label[for=${field.id}]`).textContent + ", slider", field.value, least, most, step, (v) => { field.value = v; changed(); });
    const of = field.parentElement.querySelector("select");
    let unit = of?.value;
    (of || field).after(" ", s);
    const same = () => {
      if (of) [s.min, s.max] = of.value === "eps" ? [least, most] : [1.05, Math.exp(most).toFixed(2)];
      unit = of?.value;
      s.value = field.value;
    };
    field.addEventListener("input", same);
    field.addEventListener("filled", same);
    of?.addEventListener("change", () => {
      const x = Number(field.value);
      if (of.value !== unit && field.value && isFinite(x)) field.value = String(Number((of.value === "eps" ? Math.log(x) : Math.exp(x)).toPrecision(4)));
      same();
    });
    same();
  }
  const scores = form.querySelector("#scores");
  if (scores) {
    const box = element("div");
    scores.parentElement.after(box);
    const draw = () => {
      box.replaceChildren();
      const values = scores.value.split(",").map((v) => v.trim());
      if (values.length > 12 || values.some((v) => v === "" || !isFinite(Number(v)))) return;
      values.forEach((v, i) => {
        box.append(element("div", slider(`score of candidate ${i}`, v, Math.min(-10, Math.floor(Number(v))), Math.max(2, Math.ceil(Number(v)) + 2), "0.5", (now) => {
          values[i] = now; scores.value = values.join(","); changed();
        }), ` candidate ${i}`));
      });
    };
    scores.addEventListener("input", draw);
    scores.addEventListener("filled", draw);
    draw();
  }

  // A file is dropped anywhere, or chosen below a text. A short one becomes the text; of a long one the first lines are shown, and it is asked about as it is.
  const short = 200_000;
  const areas = [...form.querySelectorAll("textarea[data-drop]")];
  const textOf = async (file) => new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()); // file.text() would replace what is no UTF-8
  const clear = (area) => {
    files.delete(area.name);
    area.readOnly = false;
    area.value = "";
    area.parentElement.querySelector(".file").replaceChildren();
  };
  const take = async (area, file) => {
    if (!file) return;
    if (!area) { say("error: this page takes no files"); return; }
    clear(area);
    try {
      const long = file.size > short;
      area.value = long ? (await textOf(new Blob([await file.slice(0, 4000).text()]))).split("\n").slice(0, 20).join("\n") + "\n…" : await textOf(file);
      if (long) {
        files.set(area.name, file);
        area.readOnly = true;
        area.parentElement.querySelector(".file").append(`${file.name}, ${(file.size / 1e6).toFixed(1)} MB: its first lines are shown, and all of it is asked about. `, button("Type a text instead", () => { clear(area); changed(); area.focus(); }));
      }
      form.requestSubmit();
    } catch { say(`error: ${file.name} is not text in UTF-8`); }
  };
  for (const area of areas) {
    const chooser = element("input");
    chooser.type = "file";
    chooser.setAttribute("aria-label", "a file, " + area.dataset.drop);
    chooser.addEventListener("change", () => take(area, chooser.files[0]));
    const [note, about] = [element("span", `or drop a file (${area.dataset.drop}), or choose one: `), element("span")];
    note.className = "note";
    about.className = "note file";
    area.after(note, chooser, " ", about);
  }
  // The text that a file is dropped on takes it, or else the one that takes files of its kind, or the first.
  const under = (e) => areas.find((a) => a === e.target) || areas.find((a) => a.dataset.drop.toLowerCase().includes(e.dataTransfer.files[0]?.name.split(".").pop().toLowerCase())) || areas[0];
  addEventListener("dragover", () => document.body.classList.add("over"));
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) document.body.classList.remove("over"); });
  addEventListener("drop", (e) => {
    document.body.classList.remove("over");
    take(under(e), e.dataTransfer.files[0]);
  });

  form.addEventListener("input", (e) => { if (e.target.type !== "range" && e.target.type !== "file") changed(); });
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    ask(e.submitter?.name === "certificate");
  });
  if (!inPage) return;
  const linked = () => { if (when === "told") changed(); else ask(); };
  addEventListener("hashchange", () => { fill(); linked(); });
  if (fill()) linked();
})();
