import { type ReactNode, useState } from "react";
import { setToken } from "./session.js";
import { Field } from "./ui/parts.js";

/** Asks for a token. It is kept in this tab only. */
export function SignIn({ onToken }: { onToken: () => Promise<void> }): ReactNode {
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const submit = async () => {
    setToken(text.trim());
    await onToken();
    setTried(true);
  };
  return (
    <main id="main" className="plain-page">
      <h1>This server asks for a token</h1>
      <Field label="Token" hint="It is kept in this tab until you close it.">
        {(id) => (
          <input
            id={id}
            type="password"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => event.key === "Enter" && void submit()}
          />
        )}
      </Field>
      {tried && (
        <p className="bad" role="alert">
          The server does not accept this token.
        </p>
      )}
      <div className="actions">
        <button type="button" className="primary" disabled={text.trim() === ""} onClick={() => void submit()}>
          Go on
        </button>
      </div>
    </main>
  );
}
