import type { ReactNode } from "react";

/** A name and what it is. Undefined, null and "" are left out. */
export type Fact = readonly [name: string, value: ReactNode];

export function FactList({ facts }: { facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts columns">
      {facts.map(([name, value]) =>
        value === undefined || value === null || value === "" || value === 0 ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="clip">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
