import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
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
  install: ({ name }: SpeechModel) => installSpeechModel(name),
  remove: removeSpeechModel,
  queryKey: speechModelsQuery.queryKey,
  afterRemoval: ({ kind }: SpeechModel) =>
    kind === "speakers"
      ? t`Speakers of new recordings are no longer told apart. Transcripts stay.`
      : t`The recording that is being transcribed with it finishes. Without another model, later recordings get no transcript. Transcripts stay.`,
};

/** What transcribes recordings, and the models of the built-in engine. */
export function TranscriptionPage() {
  const { t } = useLingui();
  const query = useQuery(speechModelsQuery);
  return (
    <SettingsPage
      title={t`Transcription`}
      lead={t`What transcribes new recordings. This applies to all workspaces of this server.`}
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
  const { t } = useLingui();
  if (engine === "server")
    return (
      <Alert icon={<IconCheck aria-hidden />} title={t`A speech server transcribes recordings`}>
        <Trans>
          It's set in <ServerSettingsLink section="speech" />. The built-in engine can tell speakers apart
          where the server does not.
        </Trans>
      </Alert>
    );
  if (engine === "off")
    return (
      <Alert icon={<IconInfoCircle aria-hidden />} title={t`Transcription is turned off`}>
        <Trans>
          Remove <Code>PARLEY_TRANSCRIPTION=off</Code> from <ServerSettingsLink section="speech" /> to turn it
          on.
        </Trans>
      </Alert>
    );
  return isReady ? (
    <Alert icon={<IconCheck aria-hidden />} title={t`Transcription is ready`}>
      <Trans>New recordings are transcribed on this server. No audio leaves it.</Trans>
    </Alert>
  ) : (
    <Alert icon={<IconInfoCircle aria-hidden />} title={t`Transcription is not set up`}>
      <Trans>
        Download a model, and new recordings are transcribed on this server. No audio leaves it. Or connect a
        speech server in <ServerSettingsLink section="speech" />.
      </Trans>
    </Alert>
  );
}
