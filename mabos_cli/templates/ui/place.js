// Where we are: #/agent/view?name=value. Everything that a view depends on stands in the address, so that back and reload work.

export let about = {}; // what the server says of itself: workspace, agent, read_only, types, version
export let route = { agent: "", view: "", given: {} };

export const setAbout = (found) => { about = found; };

// Reads the address; what it does not name is as it was.
export function readRoute(views) {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [agent = "", view = ""] = path.split("/").map(decoded);
  route = { agent: agent || route.agent || about.agent, view: Object.hasOwn(views, view) ? view : Object.keys(views)[0], given: Object.fromEntries(new URLSearchParams(query)) };
  return route;
}
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function address(view, given = {}, agent = route.agent) {
  const kept = Object.entries(given).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  const query = new URLSearchParams(kept).toString();
  return `#/${encodeURIComponent(agent)}/${view}${query ? `?${query}` : ""}`;
}
export const here = (changes) => address(route.view, { ...route.given, ...changes });
export const go = (where) => { location.hash = where; };

// Changes what is asked for without a step in the history: nobody wants to go back letter by letter.
export function setGiven(changes) {
  history.replaceState(null, "", here(changes));
  dispatchEvent(new Event("asked"));
}
