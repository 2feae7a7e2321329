import { useThreadActions } from "@spool/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { messageOf, Problem } from "../ui/parts.js";

/** Replaces a turn. It and everything after it become a branch, which can be restored. */
export function EditTurn({
  messageId,
  text,
  onDone,
}: {
  messageId: string;
  text: string;
  onDone: () => void;
}): ReactNode {
  const { edit, dismissError } = useThreadActions();
  const [prompt, setPrompt] = useState(text);
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = async () => {
    const result = await edit(messageId, prompt);
    if (result.ok) {
      onDone();
    } else {
      dismissError();
      setProblem(messageOf(result.error));
    }
  };
  return (
    <div className="edit-turn">
      <textarea
        ref={field}
        aria-label="New text of the turn"
        rows={Math.min(12, prompt.split("\n").length + 1)}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            onDone();
          } else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
            void send();
          }
        }}
      />
      <div className="actions">
        <button
          type="button"
          className="primary"
          disabled={prompt.trim() === "" || prompt === text}
          onClick={() => void send()}
        >
          Send the edited turn
        </button>
        <button type="button" onClick={onDone}>
          Keep it
        </button>
        <span className="faint">What follows it becomes a branch.</span>
      </div>
      {problem !== "" && <Problem>{problem}</Problem>}
    </div>
  );
}
