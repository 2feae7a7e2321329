/** Where the id of the shown thread is kept, so that a reload shows the same thread. */
export interface Persistence {
  /** The id of the thread to begin with. `null`: a new thread. It is called in browsers only. */
  read(): string | null;
  /** Keeps the id of the thread that is shown. */
  write(threadId: string | null): void;
  /** Calls a function when another thread should be shown, such as after a step back. The result ends that. */
  subscribe?(listener: (threadId: string | null) => void): () => void;
}

/** Options of {@link browserPersistence}. */
export interface BrowserPersistenceOptions {
  /** The name in the query of the page's URL. `null`: the URL is left alone. Defaults to `threadId`. */
  param?: string | null;
  /** The key in localStorage of the last thread. `null`: it is not stored. Defaults to `spool:last-thread`. */
  key?: string | null;
}

/** Keeps the thread in the URL of the page, and the last one in localStorage. */
export function browserPersistence(options: BrowserPersistenceOptions = {}): Persistence {
  const { param = "threadId", key = "spool:last-thread" } = options;
  const inURL = () => (param === null ? null : new URLSearchParams(window.location.search).get(param) || null);
  return {
    read: () => inURL() ?? stored(key),
    write(threadId) {
      store(key, threadId);
      if (param === null || inURL() === threadId) {
        return;
      }
      const url = new URL(window.location.href);
      if (threadId === null) {
        url.searchParams.delete(param);
      } else {
        url.searchParams.set(param, threadId);
      }
      window.history.replaceState(window.history.state, "", url);
    },
    subscribe(listener) {
      const heard = () => listener(inURL());
      window.addEventListener("popstate", heard);
      return () => window.removeEventListener("popstate", heard);
    },
  };
}

// A page may be refused its storage. The thread is then kept in the URL alone.
function stored(key: string | null): string | null {
  try {
    return key === null ? null : window.localStorage.getItem(key) || null;
  } catch {
    return null;
  }
}

function store(key: string | null, threadId: string | null): void {
  try {
    if (key !== null && threadId === null) {
      window.localStorage.removeItem(key);
    } else if (key !== null) {
      window.localStorage.setItem(key, threadId ?? "");
    }
  } catch {
    // The storage is full or refused: see stored.
  }
}
