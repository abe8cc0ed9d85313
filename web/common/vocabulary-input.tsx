import { useLingui } from "@lingui/react/macro";
import { TagsInput } from "@mantine/core";

/** Names and terms that the speech model should know. */
export function VocabularyInput(props: {
  value: string[];
  onChange: (value: string[]) => void;
  error?: string | undefined;
}) {
  const { t } = useLingui();
  return (
    <TagsInput
      label={t`Vocabulary`}
      description={t`Names and terms the speech model should know. Press Enter after each. Participants' names are added automatically.`}
      splitChars={[",", ";"]}
      acceptValueOnBlur
      maxTags={200}
      {...props}
    />
  );
}
