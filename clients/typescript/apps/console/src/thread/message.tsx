// One message. A token renders the message that it belongs to, and within that the last block.
import type { ShownMessage, ShownPart, ShownSource } from "@spool/react";
import { useMessage, useThread } from "@spool/react";
import { memo, type ReactNode, useMemo, useState } from "react";
import { withMarks } from "../markdown/cite.js";
import { Link, Markdown } from "../markdown/markdown.js";
import { Cited, Sources } from "../markdown/sources.js";
import { moment } from "../ui/format.js";
import { Copy } from "../ui/json.js";
import { ArtifactView } from "./artifact.js";
import { Versions } from "./branches.js";
import { EditTurn } from "./edit-turn.js";
import { useReadOnly } from "./read-only.js";
import { ToolCard } from "./tool-card.js";

export const Message = memo(({ id }: { id: string }): ReactNode => {
  const message = useMessage(id);
  if (message === null) {
    return null;
  }
  return message.role === "user" ? <Turn message={message} /> : <Answer message={message} />;
});

const turnStates: Partial<Record<ShownMessage["status"], string>> = { sending: "sending…", accepted: "accepted" };

function Turn({ message }: { message: ShownMessage }): ReactNode {
  const [editing, setEditing] = useState(false);
  const { active, stop } = useThread();
  const own = !useReadOnly() && message.status === "saved" && message.agentId === null;
  const waits = message.status === "queued" && message.runId !== undefined;
  return (
    <article className="turn" data-id={message.id} aria-label="message of the user" data-status={message.status}>
      <header>
        <span className="who">{message.agentId === null ? "You" : "Task"}</span>
        {message.createdAt !== undefined && <time dateTime={message.createdAt}>{moment(message.createdAt)}</time>}
        {turnStates[message.status] !== undefined && <span className="faint">{turnStates[message.status]}</span>}
        {message.status === "queued" && (
          <span className="tag">queued{message.position ? `, ${message.position}.` : ""}</span>
        )}
        <span className="tools">
          {own && <Versions messageId={message.id} />}
          {own && !editing && (
            <button
              type="button"
              className="quiet"
              disabled={active}
              title={active ? "Stop the run first" : undefined}
              onClick={() => setEditing(true)}
            >
              Edit
            </button>
          )}
          {waits && (
            <button type="button" className="quiet" onClick={() => void stop(message.runId)}>
              Cancel
            </button>
          )}
        </span>
      </header>
      {editing ? (
        <EditTurn messageId={message.id} text={message.text} onDone={() => setEditing(false)} />
      ) : (
        message.parts.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is what stands at its place
          <PartView key={i} part={part} plain />
        ))
      )}
    </article>
  );
}

function Answer({ message }: { message: ShownMessage }): ReactNode {
  const streaming = message.status === "streaming";
  const [parts, sources] = useMemo(() => cited(message.parts), [message.parts]);
  return (
    <article className="answer" data-id={message.id} aria-label="message of the agent" aria-busy={streaming}>
      <Cited value={sources}>
        {parts.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is what stands at its place
          <PartView key={i} part={part} runId={message.runId} live={streaming && i === parts.length - 1} />
        ))}
      </Cited>
      <Sources sources={sources} />
      {!streaming && message.text !== "" && message.agentId === null && (
        <div className="tools">
          <Copy text={message.text}>Copy the answer</Copy>
        </div>
      )}
    </article>
  );
}

/**
 * The parts with marks in their texts, and the sources that the marks are about. Some providers cut a text at each piece
 * that they cite: such texts are one.
 */
function cited(parts: readonly ShownPart[]): [readonly ShownPart[], readonly ShownSource[]] {
  const sources = parts.filter((part) => part.type === "source");
  if (sources.length === 0) {
    return [parts, sources];
  }
  const isText = (part: ShownPart) => part.type === "text";
  const texts = withMarks(
    parts.filter(isText).map((part) => ("text" in part ? part.text : "")),
    sources,
  );
  const shown: ShownPart[] = [];
  for (const part of parts) {
    const last = shown.at(-1);
    if (part.type === "text" && last?.type === "text") {
      shown[shown.length - 1] = { ...last, text: last.text + (texts.shift() ?? "") };
    } else {
      shown.push(part.type === "text" ? { ...part, text: texts.shift() ?? "" } : part);
    }
  }
  return [shown, sources];
}

function PartView({
  part,
  runId,
  plain = false,
  live = false,
}: {
  part: ShownPart;
  runId?: string | undefined;
  plain?: boolean;
  live?: boolean;
}): ReactNode {
  switch (part.type) {
    case "text":
      return plain ? <p className="plain">{part.text}</p> : <Markdown text={part.text} />;
    case "reasoning":
      return <Reasoning text={part.text} live={live} />;
    case "summary":
      return (
        <details className="summary">
          <summary>The model reads a summary of everything above</summary>
          <Markdown text={part.text} />
        </details>
      );
    case "tool-call":
      return <ToolCard call={part} runId={runId} Message={Message} />;
    case "image":
      return (
        <Attached
          place={part.image}
          name="image"
          mediaType={part.mimeType ?? "image/*"}
          image={plain ? "An image of the user" : "An image of the model"}
        />
      );
    case "file":
      return <Attached place={part.file} name={part.fileName ?? "file"} mediaType={part.mimeType} />;
    default:
      return null;
  }
}

/** What the model thought, folded. While it thinks, the end of it is shown. */
function Reasoning({ text, live }: { text: string; live: boolean }): ReactNode {
  if (text.trim() === "") {
    return null;
  }
  return (
    <details className="reasoning">
      <summary>
        {live ? "Thinking" : "Thoughts"}
        <span className="faint">
          {" · "}
          {live ? text.slice(-100).replaceAll("\n", " ") : text.slice(0, 100).replaceAll("\n", " ")}
        </span>
      </summary>
      <p className="plain">{text}</p>
    </details>
  );
}

/** A file of a message. Images whose data are here or at the server of the page are shown, and what is elsewhere is a link. */
function Attached({
  place,
  name,
  mediaType,
  image,
}: {
  place: string;
  name: string;
  mediaType?: string | undefined;
  /** What the image is, for those who do not see it. Left out: it is another file. */
  image?: string;
}): ReactNode {
  if (place.startsWith("artifact:")) {
    return (
      <ArtifactView
        artifact={{ id: place.slice("artifact:".length), name, ...(mediaType !== undefined && { mediaType }) }}
        {...(image !== undefined && { alt: image })}
      />
    );
  }
  if (image !== undefined && /^data:image\/(png|jpeg|gif|webp);/.test(place)) {
    return <img className="attached" src={place} alt={image} />;
  }
  return (
    <p className="artifact">
      <span className="artifact-name">{name}</span>
      <span className="faint">{mediaType}</span>
      {place.startsWith("data:") ? null : <Link href={place}>{place.slice(0, 100)}</Link>}
    </p>
  );
}
