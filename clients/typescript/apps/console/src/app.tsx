// The frame of all screens.
import { SpoolError } from "@spool/client";
import { SpoolProvider } from "@spool/react";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react";
import { DropTarget } from "./file/drop.js";
import { Help } from "./help.js";
import { useInbox } from "./inbox/store.js";
import { useKeys } from "./keys.js";
import { parseRoute, type Route, to, useHash } from "./route.js";
import { base, client, hasToken, onRefused, setToken } from "./session.js";
import { SignIn } from "./sign-in.js";
import { setTheme, type Theme, useTheme } from "./theme.js";
import { ThreadsScreen } from "./threads/screen.js";
import { messageOf, Problem } from "./ui/parts.js";

const Operations = lazy(() => import("./ops/screen.js"));
const InboxScreen = lazy(() => import("./inbox/screen.js"));
const FileScreen = lazy(() => import("./file/screen.js"));

type Access = "asking" | "granted" | "refused" | { error: string };

export function App(): ReactNode {
  const [access, setAccess] = useState<Access>("asking");
  const route = parseRoute(useHash());
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(true));

  const ask = useCallback(async () => {
    try {
      await client.threads({ limit: 1 });
      setAccess("granted");
    } catch (error) {
      const refused = error instanceof SpoolError && error.code === "unauthorized";
      setAccess(refused ? "refused" : { error: messageOf(error) });
    }
  }, []);
  useEffect(() => void ask(), [ask]);
  useEffect(() => onRefused(() => setAccess("refused")), []);

  return (
    <SpoolProvider client={client} persistence={false}>
      <DropTarget>
        <div className="app">
          <button type="button" className="skip" onClick={skip}>
            To the content
          </button>
          <Bar
            route={route}
            granted={access === "granted"}
            onHelp={() => setHelp(true)}
            onSignOut={() => setAccess("refused")}
          />
          <Suspense fallback={<main id="main" aria-busy="true" />}>
            {route.screen === "file" ? (
              <FileScreen />
            ) : access === "granted" ? (
              <Screen route={route} />
            ) : access === "refused" ? (
              <SignIn onToken={ask} />
            ) : (
              <main id="main" className="plain-page">
                {access !== "asking" && (
                  <Problem
                    action={
                      <button type="button" className="quiet" onClick={() => void ask()}>
                        Try again
                      </button>
                    }
                  >
                    The server at {base} does not answer: {access.error}
                  </Problem>
                )}
              </main>
            )}
          </Suspense>
        </div>
        {help && <Help onClose={() => setHelp(false)} />}
      </DropTarget>
    </SpoolProvider>
  );
}

/** Goes past the bar. It is no link, because the address names the screen. */
function skip(): void {
  const main = document.getElementById("main");
  main?.setAttribute("tabindex", "-1");
  main?.focus();
}

function Screen({ route }: { route: Route }): ReactNode {
  switch (route.screen) {
    case "operations":
      return <Operations part={route.part} name={route.name} />;
    case "inbox":
      return <InboxScreen />;
    case "threads":
      return <ThreadsScreen threadId={route.threadId} fresh={route.fresh} record={route.record} />;
    default:
      return null;
  }
}

/** How many questions wait. */
function InboxCount(): ReactNode {
  const { questions, hasMore } = useInbox();
  return questions.length === 0 ? null : (
    <span className="badge">
      {questions.length}
      {hasMore ? "+" : ""}
      <span className="sr"> questions wait</span>
    </span>
  );
}

function Bar({
  route,
  granted,
  onHelp,
  onSignOut,
}: {
  route: Route;
  granted: boolean;
  onHelp: () => void;
  onSignOut: () => void;
}): ReactNode {
  const theme = useTheme();
  const next: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
  const link = (screen: Route["screen"], href: string, name: ReactNode) => (
    <a href={href} aria-current={route.screen === screen ? "page" : undefined}>
      {name}
    </a>
  );
  return (
    <header className="bar">
      <a className="brand" href={to.threads} aria-label="Spool">
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <path d="M9 9h14M9 23h14M12 9v14M20 9v14M12 13h8M12 16h8M12 19h8" />
        </svg>
        <span>Spool</span>
      </a>
      <nav aria-label="Screens">
        {link("threads", to.threads, "Threads")}
        {link("inbox", to.inbox, <>Inbox {granted && <InboxCount />}</>)}
        {link("operations", to.operations, "Operations")}
      </nav>
      <span className="tools">
        <a className="button quiet api" href="./docs" target="_blank" rel="noopener">
          API
        </a>
        <button
          type="button"
          className="quiet"
          onClick={() => setTheme(next[theme])}
          title="Light, dark, or as the system"
        >
          {theme === "system" ? "Auto" : theme === "light" ? "Light" : "Dark"}
        </button>
        {hasToken() && (
          <button
            type="button"
            className="quiet"
            onClick={() => {
              setToken("");
              onSignOut();
            }}
          >
            Forget the token
          </button>
        )}
        <button type="button" className="quiet" onClick={onHelp} aria-label="Keys">
          ?
        </button>
      </span>
    </header>
  );
}
