// Asking the service. A problem is an Error whose message is the service's own sentence.

const RETRIES = 3;
let token = "";

/** Headers hold bytes, and fetch takes one character for each: not "☂", but the three of its UTF-8. */
export function useToken(text) {
  token = String.fromCharCode(...new TextEncoder().encode(text.trim()));
}

export async function askModels() {
  return read(await send("/v1/models", {}));
}

/** One of the example photos, as if it had been uploaded. */
export async function askExample(name) {
  const answer = await send(`/static/examples/${name}.jpg`, {});
  if (!answer.ok) return read(answer); // throws
  const content = await answer.blob().catch(() => { throw unreachable(); });
  return new File([content], `${name}.jpg`, { type: content.type });
}

/** Tags of one photo with attention and steps; a busy service is asked again. */
export async function ask(photo, model, signal, say) {
  const query = new URLSearchParams({ attention: "true", steps: "true", ...(model && { model }) });
  for (let attempt = 0; ; attempt++) {
    // Not the type that the browser guesses from the name: the service looks at the bytes.
    const headers = { "content-type": "application/octet-stream" };
    const answer = await send(`/v1/tags?${query}`, { method: "POST", body: photo, headers, signal });
    if (answer.status !== 429 || attempt === RETRIES) return read(answer);
    say("The service is busy; trying again …");
    await new Promise((resolve) => setTimeout(resolve, 1000 * (Number(answer.headers.get("retry-after")) || 1)));
  }
}

async function send(address, options) {
  const headers = { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) };
  try {
    return await fetch(address, { ...options, headers });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw unreachable();
  }
}

function unreachable() {
  return new Error("the service cannot be reached; is it running?");
}

async function read(answer) {
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  throw Object.assign(new Error(content.detail || `the service answered ${answer.status}`), { status: answer.status });
}
