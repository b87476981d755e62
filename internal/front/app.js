// The pages of the server work without this script: forms are sent, answers come as pages. With it, fields have sliders, and answers come as one
// types. Whoever answers, the server or the engine in the page (page.js, loaded before), is asked through one function.
"use strict";
(() => {
  const form = document.querySelector("form[data-view]");
  if (!form) return;
  const answer = document.getElementById("answer");
  const state = document.getElementById("state");
  const when = form.dataset.when; // typed: at every change; sent: when the form is; told: the same, and never because of a link alone
  const inPage = document.documentElement.dataset.engine === "worker";
  let stop = () => {};
  let timer = 0;

  const query = () => new URLSearchParams(new FormData(form)).toString();

  // A lone surrogate would be replaced on the way, and two names might become one.
  const broken = () => {
    const is = [...form.elements].some((field) => field.value?.isWellFormed?.() === false);
    if (is) say("the text has half a character, which is no Unicode");
    return is;
  };

  const say = (text, busy) => { state.textContent = text; state.classList.toggle("busy", busy || false); };

  const show = (html) => {
    const open = [...answer.querySelectorAll("details")].map((d) => d.open);
    answer.innerHTML = html;
    answer.querySelectorAll("details").forEach((d, i) => { d.open = open[i] || false; });
    answer.classList.remove("old");
    performance.mark("answer");
  };

  // The server streams the explorer's answers, ever better ones; those of other views come at once.
  const askServer = (asked, say, show) => {
    const path = form.getAttribute("action");
    history.replaceState(null, "", path + "?" + asked);
    if (path === "/") {
      const source = new EventSource("/events?" + asked);
      source.addEventListener("working", (e) => say(e.data, true));
      source.addEventListener("answer", (e) => show(e.data));
      source.addEventListener("end", () => { source.close(); say("done"); });
      source.onerror = () => { source.close(); say("the server does not answer"); };
      return () => source.close();
    }
    const controller = new AbortController();
    fetch(path + "?" + asked + "&part=1", { signal: controller.signal })
      .then((r) => r.text())
      .then((html) => { show(html); say("done"); })
      .catch((e) => { if (e.name !== "AbortError") say("the server does not answer"); });
    return () => controller.abort();
  };

  // A link holds all that the form says, but for long texts.
  const longest = 6000;
  const ask = () => {
    stop();
    if (broken()) return;
    const asked = query();
    say("working", true);
    answer.classList.add("old");
    if (!inPage) { stop = askServer(asked, say, show); return; }
    const short = asked.length <= longest;
    history.replaceState(null, "", short ? "#" + asked : location.pathname);
    const done = (text) => say(text === "done" && !short ? "done; too long for a link: copy the text to send it" : text);
    stop = window.optratio.ask(form.dataset.view, asked, (text, busy) => (busy ? say(text, true) : done(text)), show);
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(ask, inPage ? 60 : 250); };
  const changed = () => { if (when === "typed") soon(); };

  // fill puts what a link says into the form.
  const fill = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    for (const name of new Set(said.keys())) {
      const all = said.getAll(name).join(",").split(",");
      const boxes = [...form.querySelectorAll(`input[type=checkbox][name="${CSS.escape(name)}"]`)];
      if (boxes.length === 0) {
        const field = form.elements.namedItem(name);
        if (field) { field.value = said.get(name); field.dispatchEvent(new Event("input")); }
        continue;
      }
      for (const box of boxes) box.checked = all.includes(box.value);
      for (const value of all.filter((v) => /^[\w.:-]+$/.test(v) && !boxes.some((b) => b.value === v))) {
        const label = boxes[0].parentElement.cloneNode(true);
        const box = label.querySelector("input");
        box.value = value; box.checked = true;
        label.replaceChildren(box, ` ${value}`);
        boxes[0].closest("fieldset").append(label);
      }
    }
    return [...said.keys()].length > 0;
  };
  const linked = inPage && fill();

  // A slider beside a field, which says the same.
  const slider = (label, value, least, most, step, moved) => {
    const s = document.createElement("input");
    s.type = "range"; s.min = least; s.max = most; s.step = step; s.value = value;
    s.setAttribute("aria-label", label);
    s.addEventListener("input", () => moved(s.value));
    return s;
  };
  for (const field of form.querySelectorAll("[data-least]")) {
    const label = form.querySelector(`label[for=${field.id}]`).textContent + ", slider";
    const s = slider(label, field.value, field.dataset.least, field.dataset.most, field.dataset.step, (v) => { field.value = v; changed(); });
    field.after(" ", s);
    field.addEventListener("input", () => { s.value = field.value; });
  }
  const scores = form.querySelector("#scores");
  if (scores) {
    const box = document.createElement("div");
    scores.parentElement.after(box);
    const draw = () => {
      box.replaceChildren();
      const values = scores.value.split(",").map((v) => v.trim());
      if (values.length > 12 || values.some((v) => v === "" || !isFinite(Number(v)))) return;
      values.forEach((v, i) => {
        const row = document.createElement("div");
        row.append(slider(`score of candidate ${i}`, v, Math.min(-10, Math.floor(Number(v))), Math.max(2, Math.ceil(Number(v)) + 2), "0.5", (now) => {
          values[i] = now; scores.value = values.join(","); changed();
        }), ` candidate ${i}`);
        box.append(row);
      });
    };
    scores.addEventListener("input", draw);
    draw();
  }

  // A file is dropped on a text, or chosen below it; the text is then the file's.
  for (const area of form.querySelectorAll("textarea[data-drop]")) {
    const take = (file) => {
      if (!file) return;
      file.arrayBuffer().then((bytes) => {
        area.value = new TextDecoder("utf-8", { fatal: true }).decode(bytes); // file.text() would replace what is no UTF-8
        form.requestSubmit();
      }).catch(() => say(`${file.name} is no text in UTF-8`));
    };
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.setAttribute("aria-label", "a file, " + area.dataset.drop);
    chooser.addEventListener("change", () => take(chooser.files[0]));
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = `or drop a file (${area.dataset.drop}) on the text, or choose one: `;
    area.after(note, chooser);
    area.addEventListener("dragover", (e) => { e.preventDefault(); area.classList.add("over"); });
    area.addEventListener("dragleave", () => area.classList.remove("over"));
    area.addEventListener("drop", (e) => {
      e.preventDefault();
      area.classList.remove("over");
      take(e.dataTransfer.files[0]);
    });
  }

  form.addEventListener("input", (e) => { if (e.target.type !== "range" && e.target.type !== "file") changed(); });
  form.addEventListener("submit", (e) => {
    const sends = !inPage && form.method === "post";
    if (!sends || broken()) e.preventDefault();
    if (sends) return;
    ask();
  });
  if (!inPage) return;
  addEventListener("hashchange", () => { fill(); if (when !== "told") ask(); });
  if (when === "typed" || (linked && when === "sent")) ask();
})();
