import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Code, TextInput } from "@mantine/core";
import { IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  installLanguageModel,
  installLanguageModelFile,
  type LanguageModel,
  type LanguageModels,
  languageModelsQuery,
  removeLanguageModel,
} from "../../api/settings/models.ts";
import { bytes } from "../../common/format/bytes.ts";
import { number } from "../../common/format/numbers.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, Panel, ServerSettingsLink, SettingsPage } from "../parts.tsx";
import { FeedbackSection } from "./feedback.tsx";
import { Models } from "./models.tsx";

const family = {
  install: ({ name, path }: LanguageModel) =>
    path === null ? installLanguageModel(name) : installLanguageModelFile({ path, name }),
  remove: removeLanguageModel,
  queryKey: languageModelsQuery.queryKey,
  facts: ({ bytes: size, memory_bytes: memory, minutes_per_hour: minutes, state }: LanguageModel) => [
    // Not known before the file was read.
    ...(size === 0 ? [] : [t`Memory: ${{ size: bytes(memory) }}`]),
    ...(minutes !== null
      ? [t`An hour of meeting takes about ${{ minutes: number(Math.ceil(minutes)) }} min on this machine`]
      : []),
    ...(minutes === null && state === "installed" ? [t`Its speed on this machine is not measured yet`] : []),
  ],
  afterRemoval: () => t`Without another model, later recordings get no summary. Summaries stay.`,
};

/** What writes summaries, and the built-in models. */
export function LanguageModelPage() {
  const { t } = useLingui();
  const query = useQuery(languageModelsQuery);
  return (
    <SettingsPage
      title={t`Language model`}
      lead={t`What writes summaries and action items. This applies to all workspaces of this server.`}
    >
      <Loaded query={query}>
        {(language) => (
          <>
            <State language={language} />
            {language.engine === "local" ? (
              <Models models={language.models} family={family}>
                <FileForm />
              </Models>
            ) : null}
            <FeedbackSection />
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

/** Installs a model that is not in the list. */
function FileForm() {
  const { t } = useLingui();
  const empty = { path: "", name: "" };
  const [{ path, name }, setValues] = useState(empty);
  const install = useForm({
    run: () => installLanguageModelFile({ path, ...(name.trim() === "" ? {} : { name }) }),
    refresh: [languageModelsQuery.queryKey],
    onDone: () => setValues(empty),
  });
  return (
    <Panel>
      <Form form={install} label={t`Install from file`} isDisabled={path.trim() === ""} maxWidth={520}>
        <TextInput
          label={t`Path of a GGUF file`}
          description={t`On the server's machine. The file is copied, and its hash recorded.`}
          placeholder="/srv/models/own-model.gguf"
          maxLength={4096}
          value={path}
          onChange={({ currentTarget: { value } }) => setValues((before) => ({ ...before, path: value }))}
          error={install.errorOf("path")}
        />
        <TextInput
          label={t`Name of the model`}
          description={t`Leave this empty to use the name of the file.`}
          maxLength={64}
          value={name}
          onChange={({ currentTarget: { value } }) => setValues((before) => ({ ...before, name: value }))}
          error={install.errorOf("name")}
        />
      </Form>
    </Panel>
  );
}

function State({ language: { engine, is_ready: isReady, models } }: { language: LanguageModels }) {
  const { t } = useLingui();
  if (engine === "server")
    return (
      <Alert icon={<IconCheck aria-hidden />} title={t`A language model server writes summaries`}>
        <Trans>
          It's set in <ServerSettingsLink section="language-model" />. Transcripts are sent to it.
        </Trans>
      </Alert>
    );
  if (engine === "off")
    return (
      <Alert icon={<IconInfoCircle aria-hidden />} title={t`The language model is turned off`}>
        <Trans>
          Remove <Code>PARLEY_LLM=off</Code> from <ServerSettingsLink section="language-model" /> to turn it
          on.
        </Trans>
      </Alert>
    );
  return isReady ? (
    <Alert icon={<IconCheck aria-hidden />} title={t`The language model is ready`}>
      <Trans>New recordings are summarized on this server. No text leaves it.</Trans>
    </Alert>
  ) : (
    <Alert icon={<IconInfoCircle aria-hidden />} title={t`No language model is set up`}>
      {models.some(({ state }) => state === "installed") ? (
        t`The model that PARLEY_LLM_MODEL names is not installed. Install it, or change the setting in Settings → Server settings.`
      ) : (
        <Trans>
          Download a model, and new recordings are summarized on this server. No text leaves it. Or connect a
          server in <ServerSettingsLink section="language-model" />.
        </Trans>
      )}
    </Alert>
  );
}
