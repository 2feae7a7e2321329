// Files of a thread. Images of the kinds that run nothing are shown when they come into view. Everything else is a file to
// save, which comes with a signed address of the same server.
import { SpoolError } from "@spool/client";
import { useSpool, useThread } from "@spool/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { base } from "../session.js";
import { bytes, visible } from "../ui/format.js";
import { messageOf } from "../ui/parts.js";
import { isObject } from "./schema.js";

export interface ArtifactInfo {
  readonly id: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly size?: number;
}

const most = 20;

/** Returns the artifacts that a result names, at any depth. It looks at the beginning of large results only. */
export function artifactsOf(value: unknown): ArtifactInfo[] {
  const found = new Map<string, ArtifactInfo>();
  let left = 2000;
  const look = (at: unknown): void => {
    if (typeof at !== "object" || at === null || found.size >= most || left-- <= 0) {
      return;
    }
    if (isObject(at)) {
      const artifact = at.artifact;
      if (isObject(artifact) && typeof artifact.id === "string" && /^art_\w+$/.test(artifact.id)) {
        const { id, name, mediaType, size } = artifact;
        found.set(id, {
          id,
          ...(typeof name === "string" && { name: visible(name) }),
          ...(typeof mediaType === "string" && { mediaType }),
          ...(typeof size === "number" && { size }),
        });
      }
    }
    for (const inner of Object.values(at)) {
      look(inner);
    }
  };
  look(value);
  return [...found.values()];
}

/** A signed address at the server of the page. Others may know that server by another name, which the page must not ask. */
function here(url: string): string {
  return base + url.slice(url.indexOf("/api/agent/artifacts/"));
}

const raster = /^image\/(png|jpeg|gif|webp)$/;
const atOnce = 10 << 20; // bytes; a larger image is read when somebody asks for it

export function ArtifactView({ artifact, alt }: { artifact: ArtifactInfo; alt?: string }): ReactNode {
  const { threadId } = useThread();
  const { client } = useSpool();
  const large = (artifact.size ?? 0) > atOnce;
  const [shown, setShown] = useState(!large);
  const [problem, setProblem] = useState("");
  const image = raster.test(artifact.mediaType ?? "");
  const name = artifact.name ?? artifact.id;
  const save = async () => {
    try {
      setProblem("");
      const { url } = await client.artifactUrl(threadId ?? "", artifact.id, { expiresIn: "10m" });
      const link = document.createElement("a");
      link.href = here(url);
      link.download = name;
      link.click();
    } catch (error) {
      setProblem(why(error));
    }
  };
  return (
    <div className="artifact">
      <span className="artifact-name">{name}</span>
      <span className="faint">
        {artifact.mediaType}
        {artifact.size === undefined ? "" : `, ${bytes(artifact.size)}`}
      </span>
      {image && !shown && (
        <button type="button" className="quiet" onClick={() => setShown(true)}>
          Show
        </button>
      )}
      <button type="button" className="quiet" onClick={() => void save()}>
        Save
      </button>
      {problem !== "" && <span className="bad">{problem}</span>}
      {image && shown && <Picture id={artifact.id} alt={alt ?? name} onProblem={setProblem} />}
    </div>
  );
}

function why(error: unknown): string {
  return error instanceof SpoolError && error.code === "not_found" ? "Its data are gone." : messageOf(error);
}

/** An image, which is read with the credentials of the page when its place comes into view. */
function Picture({ id, alt, onProblem }: { id: string; alt: string; onProblem: (why: string) => void }): ReactNode {
  const { threadId } = useThread();
  const { client } = useSpool();
  const place = useRef<HTMLDivElement>(null);
  const [inView, setInView] = useState(false);
  const [url, setUrl] = useState("");
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && setInView(true));
    if (place.current !== null) {
      seen.observe(place.current);
    }
    return () => seen.disconnect();
  }, []);
  useEffect(() => {
    if (!inView) {
      return;
    }
    const left = new AbortController();
    let own = "";
    const fail = (problem: string) => {
      setFailed(true);
      onProblem(problem);
    };
    client.artifact(threadId ?? "", id, { signal: left.signal }).then(
      (data) => {
        if (left.signal.aborted) {
          return;
        }
        // The server has looked at the data. A result may say anything.
        if (raster.test(data.type)) {
          own = URL.createObjectURL(data);
          setUrl(own);
        } else {
          fail("It is no image.");
        }
      },
      (error) => left.signal.aborted || fail(why(error)),
    );
    return () => {
      left.abort();
      URL.revokeObjectURL(own);
    };
  }, [inView, client, threadId, id, onProblem]);
  if (failed) {
    return null;
  }
  return (
    <div className="picture" ref={place} aria-busy={url === ""}>
      {url !== "" && (
        <img
          src={url}
          alt={alt}
          decoding="async"
          onError={() => {
            setFailed(true);
            onProblem("It cannot be shown.");
          }}
        />
      )}
    </div>
  );
}
