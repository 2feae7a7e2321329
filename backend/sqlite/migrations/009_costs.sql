-- What an attempt cost is NULL where no price is known. The guesses are those for counts
-- that the provider did not report.

ALTER TABLE usage ADD COLUMN kind TEXT NOT NULL DEFAULT 'step';

ALTER TABLE usage ADD COLUMN guess_input INTEGER;

ALTER TABLE usage ADD COLUMN guess_output INTEGER;

ALTER TABLE usage ADD COLUMN cost INTEGER; -- millionths of the currency

ALTER TABLE usage ADD COLUMN currency TEXT NOT NULL DEFAULT '';

ALTER TABLE usage ADD COLUMN cost_source TEXT NOT NULL DEFAULT '';

ALTER TABLE usage ADD COLUMN price_version TEXT NOT NULL DEFAULT '';

CREATE INDEX usage_run ON usage (tenant, thread_id, run_id, ord);

-- The sums are kept by currency too, '' for the calls without a price.
CREATE TABLE usage_sum (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    model_id     TEXT    NOT NULL,
    currency     TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- of the first row in the ledger
    input        INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    reasoning    INTEGER NOT NULL,
    calls        INTEGER NOT NULL,
    estimated    INTEGER NOT NULL, -- calls with a guess
    guess_input  INTEGER NOT NULL,
    guess_output INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id, currency)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_sum
SELECT tenant, thread_id, agent_id, agent, model, model_id, '', ord,
    input, cache_read, cache_write, output, reasoning, calls, 0, 0, 0, 0
FROM usage_line;

DROP TABLE usage_line;

ALTER TABLE usage_sum RENAME TO usage_line;

-- What a run cost, and its budget with what is left of it, as JSON. '' for none.
ALTER TABLE run ADD COLUMN cost_micros INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN currency TEXT NOT NULL DEFAULT '';

ALTER TABLE run ADD COLUMN allowance TEXT NOT NULL DEFAULT '';
