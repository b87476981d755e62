// The pages work without this script: forms are sent, answers come as pages. With it, fields have sliders, and answers come as one types.
"use strict";
(() => {
  const form = document.querySelector("form[data-live]");
  if (!form) return;
  const answer = document.getElementById("answer");
  const state = document.getElementById("state");
  const path = form.dataset.live;
  let stop = () => {};
  let timer = 0;

  const query = () => new URLSearchParams(new FormData(form)).toString();

  const show = (html) => {
    const open = [...answer.querySelectorAll("details")].map((d) => d.open);
    answer.innerHTML = html;
    answer.querySelectorAll("details").forEach((d, i) => { d.open = open[i] || false; });
    answer.classList.remove("old");
  };

  // The explorer's answers come as events, ever better ones; those of other views at once.
  const ask = () => {
    stop();
    const asked = query();
    history.replaceState(null, "", path + "?" + asked);
    answer.classList.add("old");
    state.textContent = "working";
    if (path === "/") {
      const source = new EventSource("/events?" + asked);
      stop = () => source.close();
      source.addEventListener("working", (e) => { state.textContent = e.data; });
      source.addEventListener("answer", (e) => show(e.data));
      source.addEventListener("end", () => { source.close(); state.textContent = "done"; });
      source.onerror = () => { source.close(); state.textContent = "the server does not answer"; };
      return;
    }
    const controller = new AbortController();
    stop = () => controller.abort();
    fetch(path + "?" + asked + "&part=1", { signal: controller.signal })
      .then((r) => r.text())
      .then((html) => { show(html); state.textContent = "done"; })
      .catch((e) => { if (e.name !== "AbortError") state.textContent = "the server does not answer"; });
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(ask, 250); };

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
    const s = slider(label, field.value, field.dataset.least, field.dataset.most, field.dataset.step, (v) => { field.value = v; soon(); });
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
        row.append(slider(`score of candidate ${i}`, v, Math.min(-10, Math.floor(Number(v))), Math.max(2, Math.ceil(Number(v))), "0.5", (now) => {
          values[i] = now; scores.value = values.join(","); soon();
        }), ` candidate ${i}`);
        box.append(row);
      });
    };
    scores.addEventListener("input", draw);
    draw();
  }
  form.addEventListener("input", (e) => { if (e.target.type !== "range") soon(); });
  form.addEventListener("submit", (e) => { e.preventDefault(); ask(); });
})();
