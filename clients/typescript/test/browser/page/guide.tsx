// The components of docs/guides/ai-sdk.md, with both versions of the AI SDK, and of docs/guides/ag-ui.md, on the stock HttpAgent.
import type { Message } from "@ag-ui/client";
import { keepParts, Parts } from "ag-ui-parts";
import { SpoolAgent } from "ag-ui-spool-agent";
import { Chat as Chat7 } from "ai-sdk-chat";
import { Chat as Chat6 } from "ai-sdk-chat-6";
import { type ReactNode, useEffect, useState } from "react";

/** Returns the page of "ag-ui", "ai-sdk-6" or "ai-sdk-7", with what the thread has. */
export async function guide(name: string, threadId: string): Promise<ReactNode> {
  if (name === "ag-ui") {
    const agent = new SpoolAgent({ url: "/api/agent/ag-ui", threadId });
    agent.subscribe(keepParts);
    await agent.connectAgent();
    return <AgUi agent={agent} />;
  }
  const [Chat, version] = name === "ai-sdk-6" ? [Chat6, 6] : [Chat7, 7];
  const { messages } = await (await fetch(`/api/chat/${threadId}?version=${version}`)).json();
  return <Chat id={threadId} saved={messages} />;
}

function AgUi({ agent }: { agent: SpoolAgent }) {
  const [messages, setMessages] = useState<readonly Message[]>(agent.messages);
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({ onMessagesChanged: ({ messages }) => setMessages([...messages]) });
    return unsubscribe;
  }, [agent]);
  const send = async (form: FormData) => {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content: String(form.get("text")) });
    await agent.runAgent();
  };
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id}>
          <p>{String(message.content ?? "")}</p>
          <Parts message={message} />
        </article>
      ))}
      <form action={send}>
        <input name="text" />
      </form>
    </main>
  );
}
