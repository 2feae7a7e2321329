"use client";

import type { Snapshot } from "@spool/client";
import { SpoolProvider, useActivity, useInterrupts, useMessage, useMessages, useThread } from "@spool/react";

/** Shows the snapshot of the server at once, and goes on from there. Without one: a new thread. */
export function Chat({ snapshot }: { snapshot: Snapshot | undefined }) {
  return (
    <SpoolProvider persistence={urls} {...(snapshot && { initialSnapshot: snapshot })}>
      <Thread />
    </SpoolProvider>
  );
}

/** The thread is in the path of the page. */
const urls = {
  read: () => null,
  write(threadId: string | null) {
    window.history.replaceState(null, "", `/threads/${threadId ?? "new"}`);
  },
};

function Thread() {
  const { send, error } = useThread();
  const { label } = useActivity();
  const questions = useInterrupts();
  return (
    <main>
      {useMessages().map((id) => (
        <Message key={id} id={id} />
      ))}
      {questions.map(({ toolCallId, toolName, approve, deny }) => (
        <p key={toolCallId}>
          {toolName}? <button onClick={() => approve()}>Approve</button> <button onClick={() => deny()}>Deny</button>
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form action={(form) => void send(String(form.get("prompt")))}>
        <input name="prompt" placeholder="use clock with {}" /> <small>{label}</small>
      </form>
    </main>
  );
}

function Message({ id }: { id: string }) {
  const message = useMessage(id);
  return <p style={{ whiteSpace: "pre-wrap" }}>{message?.text}</p>;
}
