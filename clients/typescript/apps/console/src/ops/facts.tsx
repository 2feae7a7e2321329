import type { ReactNode } from "react";

/** A name and what it is. A value that is none, such as false, 0 and "", is left out. */
export type Fact = readonly [name: string, value: ReactNode];

export function FactList({ facts }: { facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts columns">
      {facts.map(([name, value]) =>
        !value ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="clip">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
