import { Alert, Code } from "@mantine/core";
import { IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  installLanguageModel,
  type LanguageModel,
  type LanguageModels,
  languageModelsQuery,
  removeLanguageModel,
} from "../../api/settings/models.ts";
import { Loaded, ServerSettingsLink, SettingsPage } from "../parts.tsx";
import { FeedbackSection } from "./feedback.tsx";
import { Models } from "./models.tsx";

const family = {
  install: installLanguageModel,
  remove: removeLanguageModel,
  queryKey: languageModelsQuery.queryKey,
  facts: ({ memory_bytes: memory, minutes_per_hour: minutes, state }: LanguageModel) => [
    `Memory: ${(memory / 1e9).toFixed(1)} GB`,
    ...(minutes !== null ? [`An hour of meeting takes about ${Math.ceil(minutes)} min on this machine`] : []),
    ...(minutes === null && state === "installed" ? ["Its speed on this machine is not measured yet"] : []),
  ],
  afterRemoval: () => "Without another model, later recordings get no summary. Summaries stay.",
};

/** What writes summaries, and the built-in models. */
export function LanguageModelPage() {
  const query = useQuery(languageModelsQuery);
  return (
    <SettingsPage
      title="Language model"
      lead="What writes summaries and action items. This applies to all workspaces of this server."
    >
      <Loaded query={query}>
        {(language) => (
          <>
            <State language={language} />
            {language.engine === "local" ? <Models models={language.models} family={family} /> : null}
            <FeedbackSection />
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

function State({ language: { engine, is_ready: isReady } }: { language: LanguageModels }) {
  if (engine === "server")
    return (
      <Alert icon={<IconCheck aria-hidden />} title="A language model server writes summaries">
        It's set in <ServerSettingsLink section="language-model" />. Transcripts are sent to it.
      </Alert>
    );
  if (engine === "off")
    return (
      <Alert icon={<IconInfoCircle aria-hidden />} title="The language model is turned off">
        Remove <Code>PARLEY_LLM=off</Code> from <ServerSettingsLink section="language-model" /> to turn it on.
      </Alert>
    );
  return isReady ? (
    <Alert icon={<IconCheck aria-hidden />} title="The language model is ready">
      New recordings are summarized on this server. No text leaves it.
    </Alert>
  ) : (
    <Alert icon={<IconInfoCircle aria-hidden />} title="No language model is set up">
      Download a model, and new recordings are summarized on this server. No text leaves it. Or connect a
      server in <ServerSettingsLink section="language-model" />.
    </Alert>
  );
}
