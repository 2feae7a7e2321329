// A form for a JSON value.
import { type ReactNode, useCallback, useEffect, useId, useState } from "react";
import { pretty, visible } from "../ui/format.js";
import { blankOf, isObject, type Shape, type ShapeField } from "./schema.js";

/** Told whether the text of an input can be read. */
export type OnValid = (input: string, valid: boolean) => void;

/** Reports whether all inputs of a form can be read, and what each of them has to tell. */
export function useValid(): [boolean, OnValid] {
  const [bad, setBad] = useState<readonly string[]>([]);
  const onValid = useCallback<OnValid>((input, valid) => {
    setBad((now) => {
      const others = now.filter((one) => one !== input);
      return valid ? (others.length === now.length ? now : others) : [...others, input];
    });
  }, []);
  return [bad.length === 0, onValid];
}

interface FormProps {
  shape: Shape;
  value: unknown;
  onChange: (value: unknown) => void;
  onValid: OnValid;
  disabled?: boolean;
}

/** Edits a value of a shape. */
export function ValueForm({ shape, value, onChange, onValid, disabled = false }: FormProps): ReactNode {
  if (shape.kind === "object") {
    return (
      <div className="form">
        {shape.fields.map((field) => (
          <FormField
            key={field.name}
            field={field}
            value={isObject(value) ? value[field.name] : undefined}
            onChange={(next) => onChange(withField(value, field.name, next))}
            onValid={onValid}
            disabled={disabled}
          />
        ))}
      </div>
    );
  }
  return <Input shape={shape} value={value} onChange={onChange} onValid={onValid} disabled={disabled} label="value" />;
}

/** Returns an object with one field changed. Undefined takes the field away. */
function withField(value: unknown, name: string, next: unknown): unknown {
  const { [name]: _, ...rest } = isObject(value) ? value : {};
  if (next === undefined) {
    return rest;
  }
  // A field that was there keeps its place, so that the difference shows the change alone.
  return isObject(value) && name in value ? { ...value, [name]: next } : { ...rest, [name]: next };
}

function FormField({
  field,
  value,
  onChange,
  onValid,
  disabled,
}: Omit<FormProps, "shape"> & { field: ShapeField }): ReactNode {
  const id = useId();
  const { shape, required } = field;
  const hint = field.hint === undefined ? undefined : `${id}-hint`;
  if (shape.kind === "object") {
    return (
      <fieldset>
        <legend>{field.label}</legend>
        {!required && (
          <Presence shape={shape} value={value} onChange={onChange} disabled={disabled} name={field.label} />
        )}
        {(required || value !== undefined) && (
          <ValueForm
            shape={shape}
            value={value ?? {}}
            onChange={onChange}
            onValid={onValid}
            {...(disabled && { disabled })}
          />
        )}
      </fieldset>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label}
        {!required && <span className="faint"> optional</span>}
      </label>
      <Input
        id={id}
        describedBy={hint}
        shape={shape}
        value={value}
        optional={!required}
        onChange={onChange}
        onValid={onValid}
        {...(disabled && { disabled })}
      />
      {hint !== undefined && (
        <p className="hint" id={hint}>
          {field.hint}
        </p>
      )}
    </div>
  );
}

function Presence({
  shape,
  value,
  onChange,
  disabled,
  name,
}: {
  shape: Shape;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled?: boolean | undefined;
  name: string;
}): ReactNode {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={value !== undefined}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked ? blankOf(shape) : undefined)}
      />
      with {name}
    </label>
  );
}

interface InputProps extends FormProps {
  id?: string;
  label?: string;
  describedBy?: string | undefined;
  /** An empty input takes the value away. */
  optional?: boolean;
}

function Input(props: InputProps): ReactNode {
  const { shape, value, onChange, disabled, id, label, describedBy, optional = false } = props;
  const shared = { id, "aria-label": label, "aria-describedby": describedBy, disabled };
  switch (shape.kind) {
    case "text": {
      const text = typeof value === "string" ? value : "";
      const change = (next: string) => onChange(next === "" && optional ? undefined : next);
      return shape.long ? (
        <textarea
          {...shared}
          rows={Math.min(12, text.split("\n").length + 2)}
          value={text}
          onChange={(e) => change(e.target.value)}
        />
      ) : (
        <input {...shared} type={inputType(shape.format)} value={text} onChange={(e) => change(e.target.value)} />
      );
    }
    case "number":
      return (
        <input
          {...shared}
          type="number"
          step={shape.whole ? 1 : "any"}
          min={shape.min}
          max={shape.max}
          value={typeof value === "number" ? value : ""}
          onChange={(e) => onChange(e.target.value === "" ? (optional ? undefined : 0) : e.target.valueAsNumber)}
        />
      );
    case "flag":
      return (
        <input {...shared} type="checkbox" checked={value === true} onChange={(e) => onChange(e.target.checked)} />
      );
    case "choice":
      return (
        <select
          {...shared}
          value={shape.options.indexOf(value)}
          onChange={(e) => onChange(shape.options[Number(e.target.value)])}
        >
          {(optional || value === undefined) && <option value={-1}>–</option>}
          {shape.options.map((option, i) => (
            <option key={String(option)} value={i}>
              {shape.names?.[i] ?? String(option)}
            </option>
          ))}
        </select>
      );
    case "list":
      return <ListInput {...props} of={shape.of} />;
    default:
      return <JSONInput {...props} />;
  }
}

function inputType(format: string | undefined): string {
  switch (format) {
    case "date":
      return "date";
    case "email":
      return "email";
    case "uri":
      return "url";
    default:
      return "text";
  }
}

function ListInput({ of, value, onChange, onValid, disabled, id }: InputProps & { of: Shape }): ReactNode {
  const items = Array.isArray(value) ? value : [];
  const put = (at: number, next: unknown) => onChange(items.map((one, i) => (i === at ? next : one)));
  return (
    <div className="list-input">
      {items.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is what stands at its place
        <div key={i} className="list-item">
          <Input
            shape={of}
            value={item}
            onChange={(next) => put(i, next)}
            onValid={onValid}
            label={`item ${i + 1}`}
            {...(disabled && { disabled })}
          />
          <button
            type="button"
            className="quiet"
            disabled={disabled}
            onClick={() => onChange(items.filter((_, j) => j !== i))}
            aria-label={`Remove item ${i + 1}`}
          >
            ✕
          </button>
        </div>
      ))}
      <button
        type="button"
        id={id}
        className="quiet"
        disabled={disabled}
        onClick={() => onChange([...items, blankOf(of)])}
      >
        Add an item
      </button>
    </div>
  );
}

/** A value as a text of JSON. */
export function JSONInput({
  value,
  onChange,
  onValid,
  disabled,
  id,
  label,
  optional = false,
}: Omit<InputProps, "shape">): ReactNode {
  const [text, setText] = useState(() => (value === undefined ? "" : pretty2(value)));
  const [problem, setProblem] = useState("");
  const input = useId();
  useEffect(() => () => onValid(input, true), [input, onValid]);
  const say = (problem: string) => {
    setProblem(problem);
    onValid(input, problem === "");
  };
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === "" && optional ? undefined : JSON.parse(next));
      say("");
    } catch (error) {
      say(error instanceof Error ? error.message : "not JSON");
    }
  };
  return (
    <>
      <textarea
        id={id}
        className="mono"
        aria-label={label}
        aria-invalid={problem !== ""}
        disabled={disabled}
        spellCheck={false}
        rows={Math.min(16, text.split("\n").length + 1)}
        value={text}
        onChange={(event) => change(event.target.value)}
      />
      {problem !== "" && (
        <p className="hint bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** JSON text, also of a text. */
function pretty2(value: unknown): string {
  return visible(typeof value === "string" ? JSON.stringify(value) : pretty(value));
}
