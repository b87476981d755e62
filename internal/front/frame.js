// The document of a function under audit, in a frame without an origin: it may do nothing but start the worker that runs the function. A worker has no
// page that it could lead elsewhere; it has the policy of this document, and ends with it.
"use strict";
onmessage = ({ data, source, ports: [port] }) => {
  if (source !== parent) return;
  onmessage = null;
  const worker = new Worker(URL.createObjectURL(new Blob([data], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => port.postMessage(data);
  worker.onerror = (e) => { e.preventDefault(); port.postMessage({ broken: e.message }); };
  port.onmessage = ({ data }) => worker.postMessage(data);
};
