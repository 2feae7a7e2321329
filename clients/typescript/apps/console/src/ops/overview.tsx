import { type ReactNode, useEffect, useState } from "react";
import { to } from "../route.js";
import { type About, readAbout } from "../session.js";
import { bytes, count, duration, short } from "../ui/format.js";
import { Meter } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { admin, every } from "./admin.js";
import { Failed } from "./failed.js";
import { RunTable } from "./run-table.js";
import { Spark, useSeries } from "./spark.js";

export function Overview(): ReactNode {
  const { value, error } = usePoll("overview", every, (signal) => admin.overview({ signal }));
  const states = value?.runsByState ?? {};
  const running = useSeries(value === null ? undefined : (states.RUNNING ?? 0), value);
  const waiting = useSeries(value === null ? undefined : (states.WAITING_FOR_INPUT ?? 0), value);
  const ready = useSeries(value?.queue.ready, value);
  const oldest = useSeries(value?.queue.oldestReadyMs, value);
  const dead = useSeries(value?.queue.dead, value);
  const tokens = useSeries(value?.tokens.totalTokens, value);
  const rate = tokens.map((one, i) => (i === 0 ? 0 : one - (tokens[i - 1] ?? one)));
  return (
    <>
      <h1 className="sr">Overview</h1>
      <Failed error={error} />
      {value !== null && (
        <>
          <div className="sparks">
            <Spark label="running" text={count(states.RUNNING ?? 0)} series={running} />
            <Spark label="waiting" text={count(states.WAITING_FOR_INPUT ?? 0)} series={waiting} />
            <Spark label="jobs ready" text={count(value.queue.ready)} series={ready} />
            <Spark
              label="oldest ready job"
              text={duration(value.queue.oldestReadyMs)}
              series={oldest}
              level={value.queue.oldestReadyMs > 60_000 ? "over" : value.queue.oldestReadyMs > 10_000 ? "near" : "fine"}
            />
            <Spark
              label="dead jobs"
              text={count(value.queue.dead)}
              series={dead}
              level={value.queue.dead > 0 ? "over" : "fine"}
            />
            <Spark
              label="tokens a second"
              text={short(Math.round((rate.at(-1) ?? 0) / (every / 1000)))}
              series={rate.slice(1)}
            />
          </div>
          <div className="ops-columns">
            <section>
              <h2>Runs</h2>
              <table>
                <tbody>
                  {Object.entries(states).map(([state, number]) => (
                    <tr key={state}>
                      <td>{state.toLowerCase().replaceAll("_", " ")}</td>
                      <td className="num">{count(number)}</td>
                    </tr>
                  ))}
                  <tr>
                    <td>threads</td>
                    <td className="num">{count(value.threads)}</td>
                  </tr>
                </tbody>
              </table>
            </section>
            <section>
              <h2>Use</h2>
              <table>
                <tbody>
                  <tr>
                    <td>tokens in</td>
                    <td className="num">{count(value.tokens.inputTokens)}</td>
                  </tr>
                  <tr>
                    <td>of these from a cache</td>
                    <td className="num">{count(value.tokens.cachedInputTokens)}</td>
                  </tr>
                  <tr>
                    <td>tokens out</td>
                    <td className="num">{count(value.tokens.outputTokens)}</td>
                  </tr>
                  {!value.bytesLimit && (
                    <tr>
                      <td>stored</td>
                      <td className="num">{bytes(value.bytes)}</td>
                    </tr>
                  )}
                </tbody>
              </table>
              {value.bytesLimit ? (
                <Meter
                  label="Stored"
                  used={value.bytes}
                  total={value.bytesLimit}
                  text={`${bytes(value.bytes)} of ${bytes(value.bytesLimit)}`}
                />
              ) : null}
            </section>
            <Facts />
          </div>
          <section>
            <h2>At work or waiting</h2>
            {value.active.length === 0 ? <p className="faint">No run is active.</p> : <RunTable runs={value.active} />}
          </section>
          {value.queue.dead > 0 && (
            <p>
              <a href={to.jobs}>{count(value.queue.dead)} dead jobs</a> wait for somebody.
            </p>
          )}
        </>
      )}
    </>
  );
}

function Facts(): ReactNode {
  const [about, setAbout] = useState<About | null>(null);
  useEffect(() => {
    readAbout().then(setAbout, () => undefined);
  }, []);
  const facts = Object.entries(about?.server ?? {});
  if (facts.length === 0) {
    return null;
  }
  return (
    <section>
      <h2>This server</h2>
      <dl className="facts">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
