// How long a call of a tool runs. The server does not keep it, so only a page that has seen the call begin knows it.
import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useState } from "react";
import { duration } from "../ui/format.js";
import { useNow } from "../ui/now.js";

/** When the calls have begun and ended. What had begun before the page came has no time. */
const times = new Map<string, { from?: number; to?: number }>();

/** Whether what appears from now on has just begun. Null: nothing does, as in the past of a thread. */
const Fresh = createContext<boolean | null>(null);

/** Shows calls that run. What is there with the first content has begun before. */
export function Follow({ ready = true, children }: { ready?: boolean; children: ReactNode }): ReactNode {
  const [fresh, setFresh] = useState(false);
  useEffect(() => setFresh(ready), [ready]);
  return <Fresh value={fresh}>{children}</Fresh>;
}

/** Shows for how long a call runs, or has run. Its key is one in all threads. */
export function Took({ of, running, over }: { of: string; running: boolean; over: boolean }): ReactNode {
  const fresh = useContext(Fresh);
  const [before] = useState(running && fresh !== true);
  const [, again] = useState(0);
  useLayoutEffect(() => {
    const time = times.get(of);
    if (fresh === null || (running ? time !== undefined : !over || time === undefined || time.to !== undefined)) {
      return;
    }
    times.set(of, running ? { ...(!before && { from: Date.now() }) } : { ...time, to: Date.now() });
    again((n) => n + 1);
  }, [of, running, over, fresh, before]);
  const { from, to } = times.get(of) ?? {};
  if (fresh === null || from === undefined) {
    return null;
  }
  return to === undefined ? running && <Running from={from} /> : <span className="num">{duration(to - from)}</span>;
}

function Running({ from }: { from: number }): ReactNode {
  const ms = useNow() - from;
  return ms < 1000 ? null : <span className="num">{duration(ms)}</span>;
}
