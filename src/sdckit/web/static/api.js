// The one way to the server. Errors carry {what, given, allowed, hint}, to be shown where they are about.

const SILENT = "The server does not answer. Try again when it does.";

/** @param {string} address @param {RequestInit} [how] */
async function call(address, how) {
  const answer = await fetch(address, how).catch(() => { throw Object.assign(new Error(SILENT), { what: SILENT, hint: "" }); });
  const content = await answer.json().catch(() => ({ what: "The server gave no answer.", hint: "" }));
  if (!answer.ok) throw Object.assign(new Error(content.what), { ...content, status: answer.status });
  return content;
}

export const get = (address, asked = {}) => call(`${address}?${new URLSearchParams(asked)}`);
export const post = (address, content) =>
  call(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content) });
export const remove = (address) => call(address, { method: "DELETE" });

/** A file to open, or one that an option names. @param {File} file */
export const upload = (file, option = false, keep = false) =>
  call("/api/upload", { method: "POST", headers: { "x-file-name": encodeURIComponent(file.name), ...(option ? { "x-for": "option" } : {}), ...(keep ? { "x-keep": "1" } : {}) }, body: file });
