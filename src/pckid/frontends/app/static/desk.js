// The desk of a server on this machine: what the page asks goes there, and nowhere else.

async function read(response) {
  const kind = response.headers.get("content-type") ?? "";
  if (kind.startsWith("application/json")) return response.json();
  return { wrong: `The app answers: ${(await response.text()).slice(0, 200)}` };
}

async function send(address, body) {
  try {
    return await read(await fetch(address, { method: "POST", body }));
  } catch {
    return { wrong: "The app does not answer. Is it still running? Start it again: pckid app" };
  }
}

/** Ask something: data in, data out. */
export const ask = (request) => send("ask", JSON.stringify(request));

/** Give a file to the desk. */
export const give = (file) => send(`file?name=${encodeURIComponent(file.name)}`, file);

/** The address of a file that was made; `as` is the name that it is stored under. */
export const addressOf = (made, file, as) =>
  `made/${made}/${file}${as ? `?as=${encodeURIComponent(as)}` : ""}`;
