import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Input, Modal, SegmentedControl, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  type IntelligenceState,
  intelligenceStateQuery,
  rerunIntelligence,
} from "../../api/recording/intelligence.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { LanguageSelect } from "../../common/language-select.tsx";
import { useRecording } from "../context.ts";

type Length = IntelligenceState["length"];

const lengths: readonly { readonly value: Length; readonly label: MessageDescriptor }[] = [
  { value: "short", label: msg`Short` },
  { value: "normal", label: msg`Normal` },
  { value: "detailed", label: msg`Detailed` },
];

/** Asks how long the summary should be, and in which language, and has the language model write again. */
export function WriteAgainDialog({ state, onClose }: { state: IntelligenceState; onClose: () => void }) {
  const { t } = useLingui();
  const { id } = useRecording();
  const client = useQueryClient();
  const [length, setLength] = useState(state.length);
  const [language, setLanguage] = useState(state.language);
  const form = useForm({
    run: () => rerunIntelligence(id, { length, language }),
    onDone: (now) => {
      client.setQueryData(intelligenceStateQuery(id).queryKey, now);
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t`Write again`}>
      <Form form={form} label={t`Write again`} onCancel={onClose}>
        <Text size="sm">
          <Trans>
            Replaces the summary, chapters and action items when it is done. What users edited stays.
          </Trans>
        </Text>
        <Input.Wrapper label={t`Length`} labelElement="div">
          <SegmentedControl
            fullWidth
            aria-label={t`Length`}
            data={lengths.map(({ value, label }) => ({ value, label: t(label) }))}
            value={length}
            onChange={(value) => setLength(value)}
          />
        </Input.Wrapper>
        <LanguageSelect
          label={t`Language`}
          automatic={t`As the workspace`}
          value={language}
          onChange={setLanguage}
          error={form.errorOf("language")}
        />
      </Form>
    </Modal>
  );
}
