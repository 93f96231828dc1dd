// Remembers in the browser under which name somebody works here, where nobody is invited, and loads
// the page again: the server reads the name when a page connects.

const A_YEAR_SECONDS = 365 * 24 * 3600;

/** @type {(component: { data: { cookie: string, name: string } }) => void} */
export default function remember({ data: { cookie, name } }) {
  // biome-ignore lint/suspicious/noDocumentCookie: the server reads it when a page connects
  document.cookie = `${cookie}=${encodeURIComponent(name)}; Path=/; Max-Age=${A_YEAR_SECONDS}; SameSite=Strict`;
  location.reload();
}
