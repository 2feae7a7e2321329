import { useThread, useThreadState } from "@spool/react";
import type { ReactNode } from "react";
import { versionsOf } from "./versions.js";

function same(a: ReturnType<typeof versionsOf>, b: ReturnType<typeof versionsOf>): boolean {
  return (
    a === b ||
    (a !== null && b !== null && a.at === b.at && a.versions.every((one, i) => one?.id === b.versions[i]?.id))
  );
}

/** Switches between the versions of a turn. */
export function Versions({ messageId }: { messageId: string }): ReactNode {
  const { restoreBranch, active } = useThread();
  const found = useThreadState((state) => versionsOf(messageId, state.messages, state.branches), same);
  if (found === null) {
    return null;
  }
  const { versions, at } = found;
  const step = (by: number, sign: string, name: string) => {
    const branch = versions[at + by];
    return (
      <button
        type="button"
        className="quiet"
        aria-label={`${name} version`}
        title={branch?.preview}
        disabled={active || branch == null}
        onClick={() => branch && void restoreBranch(branch.id)}
      >
        {sign}
      </button>
    );
  };
  return (
    <span className="versions">
      {step(-1, "‹", "Previous")}
      <span className="num">
        {at + 1}/{versions.length}
      </span>
      {step(1, "›", "Next")}
    </span>
  );
}
