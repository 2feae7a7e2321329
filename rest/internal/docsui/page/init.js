// Starts Swagger UI. The page says in its attributes what to show, so that this file is
// the same for all pages and the page needs no script of its own.
"use strict";

(() => {
  const mount = document.getElementById("swagger-ui");

  // The page may not speak with an identity provider: its policy allows no other origin.
  // A scheme that would ask one becomes a field for a token that the reader has already.
  const pasteToken = (scheme) => {
    if (scheme?.type !== "openIdConnect" && scheme?.type !== "oauth2") {
      return scheme;
    }
    const hint = "Paste an access token.";
    const description = scheme.description ? `${scheme.description}\n\n${hint}` : hint;
    return { type: "http", scheme: "bearer", description };
  };

  const withPastedTokens = (spec) => {
    const schemes = spec?.components?.securitySchemes;
    if (!schemes) {
      return spec;
    }
    const securitySchemes = Object.fromEntries(
      Object.entries(schemes).map(([name, scheme]) => [name, pasteToken(scheme)]),
    );
    return { ...spec, components: { ...spec.components, securitySchemes } };
  };

  const PastedTokens = () => ({
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (update) => (spec) => update(withPastedTokens(spec)),
        },
      },
    },
  });

  // An event stream has no end, and Swagger UI shows an answer once it has ended. So an answer
  // ends here when the stream falls silent, or has been read for long, and says so.
  const silence = 1500;
  const longest = 6000;
  const most = 1 << 20;

  const beginning = async (url, request) => {
    const response = await fetch(url, request);
    const type = response.headers.get("Content-Type") ?? "";
    if (!type.startsWith("text/event-stream") || !response.body) {
      return response;
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const until = Date.now() + longest;
    let text = "";
    let ended = false;
    while (!ended) {
      const left = until - Date.now();
      const wait = text === "" ? left : Math.min(silence, left);
      let timer;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, Math.max(wait, 0));
      });
      const next = await Promise.race([reader.read().catch(() => ({ done: true })), late]);
      clearTimeout(timer);
      if (next === undefined || text.length > most) {
        break;
      }
      ended = next.done;
      text += decoder.decode(next.value, { stream: !ended });
    }
    if (!ended) {
      reader.cancel().catch(() => {});
      text += "\n: This page stops reading here. The stream goes on: the curl command above follows it, with -N.\n";
    }
    const { status, statusText, headers } = response;
    return new Response(text, { status, statusText, headers });
  };

  window.SwaggerUIBundle({
    url: new URL(mount.dataset.spec, window.location.href).href,
    domNode: mount,
    deepLinking: true,
    plugins: [PastedTokens],
    requestInterceptor: (request) => {
      request.userFetch = beginning;
      return request;
    },
    presets: [window.SwaggerUIBundle.presets.apis],
    // A validator would be told the address of the document.
    validatorUrl: null,
  });
})();
