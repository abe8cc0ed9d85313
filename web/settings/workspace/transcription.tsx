import { Alert, Code } from "@mantine/core";
import { IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  installSpeechModel,
  removeSpeechModel,
  type SpeechModel,
  type SpeechModels,
  speechModelsQuery,
} from "../../api/settings/models.ts";
import { Loaded, ServerSettingsLink, SettingsPage } from "../parts.tsx";
import { Models } from "./models.tsx";

const family = {
  install: installSpeechModel,
  remove: removeSpeechModel,
  queryKey: speechModelsQuery.queryKey,
  afterRemoval: ({ kind }: SpeechModel) =>
    kind === "speakers"
      ? "Speakers of new recordings are no longer told apart. Transcripts stay."
      : "The recording that is being transcribed with it finishes. Without another model, later recordings get no transcript. Transcripts stay.",
};

/** What transcribes recordings, and the models of the built-in engine. */
export function TranscriptionPage() {
  const query = useQuery(speechModelsQuery);
  return (
    <SettingsPage
      title="Transcription"
      lead="What transcribes new recordings. This applies to all workspaces of this server."
    >
      <Loaded query={query}>
        {(speech) => (
          <>
            <State speech={speech} />
            {speech.engine === "off" ? null : (
              <Models
                models={speech.models.filter(({ kind }) => speech.engine === "local" || kind === "speakers")}
                family={family}
              />
            )}
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

function State({ speech: { engine, is_ready: isReady } }: { speech: SpeechModels }) {
  if (engine === "server")
    return (
      <Alert icon={<IconCheck aria-hidden />} title="A speech server transcribes recordings">
        It's set in <ServerSettingsLink section="speech" />. The built-in engine can tell speakers apart where
        the server does not.
      </Alert>
    );
  if (engine === "off")
    return (
      <Alert icon={<IconInfoCircle aria-hidden />} title="Transcription is turned off">
        Remove <Code>PARLEY_TRANSCRIPTION=off</Code> from <ServerSettingsLink section="speech" /> to turn it
        on.
      </Alert>
    );
  return isReady ? (
    <Alert icon={<IconCheck aria-hidden />} title="Transcription is ready">
      New recordings are transcribed on this server. No audio leaves it.
    </Alert>
  ) : (
    <Alert icon={<IconInfoCircle aria-hidden />} title="Transcription is not set up">
      Download a model, and new recordings are transcribed on this server. No audio leaves it. Or connect a
      speech server in <ServerSettingsLink section="speech" />.
    </Alert>
  );
}
