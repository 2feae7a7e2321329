// Who is told of events.
import { type ReactNode, useState } from "react";
import { to } from "../route.js";
import { Empty } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { every } from "./admin.js";
import { webhooks } from "./automation.js";
import { Failed } from "./failed.js";
import { WebhookForm } from "./webhook-form.js";

export function Webhooks(): ReactNode {
  const [making, setMaking] = useState(false);
  const { value, error, refresh } = usePoll("webhooks", every, (signal) => webhooks.list({ signal }));
  return (
    <>
      <div className="ops-head">
        <h1>Webhooks</h1>
        <span className="faint">Each is told of the events that pass its filter, signed with its secret.</span>
        <span className="tools">
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            New webhook
          </button>
        </span>
      </div>
      <Failed error={error} scope="webhooks" />
      {value?.length === 0 && (
        <Empty title="Nobody is told">
          <p className="faint">Make a webhook here, or write it into the section webhooks of the configuration.</p>
        </Empty>
      )}
      {value !== null && value.length > 0 && (
        <div className="wide">
          <table>
            <thead>
              <tr>
                <th>name</th>
                <th>host</th>
                <th>form</th>
                <th>events</th>
                <th>state</th>
                <th>made by</th>
              </tr>
            </thead>
            <tbody>
              {value.map((one) => (
                <tr key={one.name}>
                  <td className="mono id">
                    <a href={to.webhook(one.name)}>{one.name}</a>
                  </td>
                  <td>{one.origin}</td>
                  <td>{one.form}</td>
                  <td>{one.host === true ? "of starts that name it" : (one.events?.join(", ") ?? "all")}</td>
                  <td className={one.disabledAt === undefined ? "" : "bad"} title={one.disabledReason}>
                    {one.disabledAt === undefined ? "on" : "off"}
                  </td>
                  <td>{one.fromFile === true ? "the configuration" : one.madeBy}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && (
        <WebhookForm
          onClose={() => {
            setMaking(false);
            refresh();
          }}
        />
      )}
    </>
  );
}
