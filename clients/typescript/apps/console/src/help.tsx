import type { ReactNode } from "react";
import { frameKeys } from "./keys.js";
import { Dialog } from "./ui/parts.js";

const inboxKeys = [
  ["j, k", "the next and the previous question"],
  ["a, d", "approve and deny: the one that is shown, or all that are chosen"],
  ["e", "edit the arguments"],
  ["r", "give a reason"],
  ["x", "choose, to answer several at once"],
] as const;

const recordKeys = [
  ["←, →", "the commit before and the next one"],
  ["[, ]", "the mark before and the next one"],
  ["Home, End", "the first and the last commit, while the slider has the focus"],
] as const;

const messageKeys = [
  ["Enter", "sends the message"],
  ["Shift Enter", "a new line"],
] as const;

export function Help({ onClose }: { onClose: () => void }): ReactNode {
  const list = (keys: readonly (readonly [string, string])[]) => (
    <dl className="keys">
      {keys.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
  return (
    <Dialog title="Keys" onClose={onClose}>
      <h3>Everywhere</h3>
      {list(frameKeys)}
      <h3>In the inbox</h3>
      {list(inboxKeys)}
      <h3>In the history of a thread</h3>
      {list(recordKeys)}
      <h3>In the message field</h3>
      {list(messageKeys)}
    </Dialog>
  );
}
