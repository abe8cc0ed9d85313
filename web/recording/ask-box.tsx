import { useLingui } from "@lingui/react/macro";
import { AskBox } from "../ask/box.tsx";
import { conversationAt } from "../ask/conversation.ts";
import { useRecording } from "./context.ts";

/** Questions about the recording that is open; statements play their moment. */
export function RecordingAskBox() {
  const { t } = useLingui();
  const { id, goTo, hasMedia, playback } = useRecording();
  return (
    <AskBox
      conversation={conversationAt(id, id)}
      label={t`Ask about this meeting`}
      onMoment={(ms) => {
        goTo(ms);
        if (hasMedia) playback.play();
      }}
    />
  );
}
