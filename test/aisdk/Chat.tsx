import { Chat as Conversation, useChat } from "@ai-sdk/react";
import { DefaultChatTransport, getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { type ComponentProps, useEffect, useRef, useState } from "react";

const api = "/api/chat";
const headers = { "x-ai-sdk-version": "7" }; // or 6
const load = async (id: string): Promise<UIMessage[]> => (await (await fetch(`${api}/${id}`, { headers })).json()).messages;
const stop = (id: string) => fetch(`${api}/${id}/stop`, { method: "POST", headers: { "content-type": "application/json" } });

// A model, a tool or another person has named the address: only one of the web, or of this server, can be opened.
function Link({ name, ...to }: ComponentProps<"a"> & { href: string; name: string }) {
  return <p>{/^(https?:|\/)/i.test(to.href) ? <a {...to}>{name}</a> : name}</p>;
}

export function Chat({ id, saved }: { id: string; saved: UIMessage[] }) {
  const broken = useRef(false);
  const [chat] = useState(() => {
    const made: Conversation<UIMessage> = new Conversation({
      id,
      messages: saved,
      transport: new DefaultChatTransport({
        api,
        headers,
        // After a break, the message may have ended meanwhile: it is wanted all the same.
        prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream${broken.current ? "?replay=last" : ""}`, headers }),
      }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onFinish: async (end) => {
        broken.current = end.isError && made.error instanceof TypeError; // each browser has its own words for a break
        if (broken.current || end.isAbort || end.finishReason) return;
        // The run failed or was stopped. Version 6 is not told that what was not saved is gone.
        const messages = await load(id);
        if (made.lastMessage?.id === end.message.id) made.messages = messages;
      },
    });
    return made;
  });
  const { messages, sendMessage, addToolApprovalResponse, resumeStream, status, error } = useChat({ chat, resume: true });

  // A connection that broke off: the run goes on, and its message comes again from the start. If there is none, the server has not got
  // the user's message.
  useEffect(() => {
    if (status !== "error" || !broken.current) return;
    const timer = setTimeout(async () => {
      await resumeStream();
      if (chat.status === "ready" && chat.lastMessage?.role === "user") await sendMessage();
    }, 1000);
    return () => clearTimeout(timer);
  }, [status, error]);

  return (
    <main>
      {messages.map((m) => (
        <article key={m.id} className={m.role}>
          {m.parts.map((part, i) => {
            if (part.type === "text") return <p key={i}>{part.text}</p>;
            if (part.type === "source-url") return <Link key={i} href={part.url} name={part.title ?? part.url} target="_blank" rel="noopener noreferrer" />;
            if (part.type === "source-document") return <p key={i}>{part.title}</p>;
            if (part.type === "file" && part.mediaType.startsWith("image/")) return <img key={i} src={part.url} alt={part.filename ?? "image"} />;
            if (part.type === "file") return <Link key={i} href={part.url} name={part.filename ?? "file"} download />;
            if (part.type === "data-subagent") return <p key={i}>{JSON.stringify(part.data)}</p>;
            if (!isToolUIPart(part)) return null;
            if (part.state !== "approval-requested") return <p key={i}>{`${part.type} ${part.state}`}</p>;
            const { id } = part.approval;
            return (
              <p key={i}>
                May {getToolName(part)} run with {JSON.stringify(part.input)}?
                <button onClick={() => void addToolApprovalResponse({ id, approved: true })}>Yes</button>
                <button onClick={() => void addToolApprovalResponse({ id, approved: false })}>No</button>
              </p>
            );
          })}
        </article>
      ))}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const text = String(new FormData(e.currentTarget).get("text"));
          e.currentTarget.reset();
          void sendMessage({ text });
        }}
      >
        <input name="text" />
        <button type="button" onClick={() => void stop(id)}>
          Stop
        </button>
        <output>{status}</output>
      </form>
    </main>
  );
}
