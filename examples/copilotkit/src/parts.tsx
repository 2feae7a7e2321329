import type { AgentSubscriber, Message } from "@ag-ui/client";

/** What Spool adds to a message, which has only text in AG-UI. */
interface Extra {
  files?: { url: string; mimeType: string; fileName?: string }[];
  sources?: { url?: string; title?: string }[];
}

const extraOf = (message: Message) => (message as { metadata?: { spool?: Extra } }).metadata?.spool ?? {};

/** Adds what comes live to its message, where a page that opens later gets it. */
export const keepParts: AgentSubscriber = {
  onCustomEvent({ event, messages }) {
    const list = ({ FILE: "files", SOURCE: "sources" } as Record<string, keyof Extra | undefined>)[event.name];
    if (list === undefined) return;
    const { messageId: id, ...part } = event.value;
    const begun = messages.some((m) => m.id === id) ? messages : [...messages, { id, role: "assistant" as const }]; // an image may come first
    const add = (m: Message) => ({ ...m, metadata: { spool: { ...extraOf(m), [list]: [...(extraOf(m)[list] ?? []), part] } } });
    return { messages: begun.map((m) => (m.id === id ? add(m) : m)) };
  },
};

/** The images, files and sources of a message. A model or a tool has named them: only an address of the web becomes a link. */
export function Parts({ message }: { message: Message }) {
  const { files = [], sources = [] } = extraOf(message);
  return (
    <>
      {files.map(({ url, mimeType, fileName }) =>
        mimeType.startsWith("image/") ? (
          <img key={url} src={url} alt={fileName ?? "image"} />
        ) : (
          <p key={url}>
            <a href={url} download={fileName}>
              {fileName ?? "file"}
            </a>
          </p>
        ),
      )}
      {sources.map(({ url = "", title = url }, i) => (
        <p key={i}>
          {/^https?:/i.test(url) ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {title}
            </a>
          ) : (
            title
          )}
        </p>
      ))}
    </>
  );
}
