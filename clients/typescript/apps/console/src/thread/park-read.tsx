// A question as it was asked, to read.
import type { Park } from "@spool/client";
import { type ReactNode, useId } from "react";
import { visible } from "../ui/format.js";
import { Value } from "../ui/json.js";
import { Countdown, titleOf } from "./park.js";

export function ParkRead({ park }: { park: Park }): ReactNode {
  const title = useId();
  return (
    <section className="park" aria-labelledby={title} data-call={park.toolCallId}>
      <header>
        <h3 id={title}>{visible(titleOf(park))}</h3>
        {park.expiresAt !== undefined && <Countdown at={park.expiresAt} onExpiry={park.onExpiry} />}
      </header>
      {park.nested && <p className="faint">Asked by the nested run of {park.nested.name}.</p>}
      <Value value={park.arguments} label={`arguments of ${park.toolName}`} />
    </section>
  );
}
