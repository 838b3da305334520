// The API as a page, made from /openapi.json.

const EXAMPLES = {
  "/v1/tags": (site) => `curl --data-binary @photo.jpg '${site}/v1/tags?attention=true'\ncurl -F images=@a.jpg -F images=@b.jpg '${site}/v1/tags'`,
};

function add(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}

function addTable(parent, heads, rows) {
  if (!rows.length) return;
  const table = add(parent, "table"), first = add(table, "tr");
  heads.forEach((head) => add(first, "th", head));
  rows.forEach(([name, text]) => {
    const row = add(table, "tr");
    add(add(row, "td"), "code", name);
    add(row, "td", text);
  });
}

function addRoute(parent, path, method, route) {
  const card = add(parent, "article", undefined, "route card"), head = add(card, "h3");
  add(head, "b", method.toUpperCase());
  add(head, "code", path);
  add(head, "span", route.summary);
  if (route.description) add(card, "p", route.description.replaceAll("`", "").replace(/\s+/g, " "));
  const site = location.origin;
  add(card, "pre", EXAMPLES[path]?.(site) ?? (method === "get" ? `curl ${site}${path}` : `curl -X POST ${site}${path}`));
  addTable(card, ["query", ""], (route.parameters ?? []).map((p) => [p.name, (p.description ?? "").replaceAll("`", "")]));
  if (route.requestBody) addTable(card, ["body", ""], [[Object.keys(route.requestBody.content).join(", "), ""]]);
  addTable(card, ["answer", ""], Object.entries(route.responses).map(([status, r]) => [status, r.description.replaceAll("`", "")]));
}

const api = await (await fetch("/openapi.json")).json();
const rooms = {};
for (const [path, methods] of Object.entries(api.paths))
  for (const [method, route] of Object.entries(methods)) (rooms[route.tags?.[0] ?? "more"] ??= []).push([path, method, route]);
for (const [room, routes] of Object.entries(rooms)) {
  add(document.getElementById("routes"), "h2", room);
  routes.forEach((route) => addRoute(document.getElementById("routes"), ...route));
}
