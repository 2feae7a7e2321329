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

  window.SwaggerUIBundle({
    url: new URL(mount.dataset.spec, window.location.href).href,
    domNode: mount,
    deepLinking: true,
    plugins: [PastedTokens],
    presets: [window.SwaggerUIBundle.presets.apis],
    // A validator would be told the address of the document.
    validatorUrl: null,
  });
})();
