export default function Operations(_: { part: string; runId: string | null }) {
  return null;
}
