// Where a link of a model may lead.

/**
 * Returns the address of a link, or null for one that is not followed. Only addresses with a scheme are: a relative one
 * would be a screen of the console that the model has chosen.
 */
export function safeLink(href: string): string | null {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return null;
  }
  switch (url.protocol) {
    case "http:":
    case "https:":
      return url.username === "" && url.password === "" ? url.href : null;
    case "mailto:":
      return url.href;
    default:
      return null;
  }
}
