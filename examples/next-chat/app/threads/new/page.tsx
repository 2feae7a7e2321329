import { Chat } from "../[id]/chat";

export default function Page() {
  return <Chat snapshot={undefined} />;
}
