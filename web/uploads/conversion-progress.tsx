import { Trans, useLingui } from "@lingui/react/macro";
import { Progress, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type UploadBody, uploadedFileQuery } from "../api/uploads.ts";
import { percent } from "../common/format/numbers.ts";

/** How much of an upload's conversion is done; nothing while that is unknown. */
export function ConversionProgress({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const isPolled = upload.status === "promoting";
  const query = useQuery({ ...uploadedFileQuery(upload), enabled: isPolled });
  const progress = query.data?.progress ?? null;
  if (!isPolled || progress === null) return null;
  const percentage = Math.floor(progress * 100);
  const share = percent(percentage / 100);
  const { title } = upload;
  return (
    <div>
      <Text size="sm" c="dimmed">
        <Trans>Converting: {share}</Trans>
      </Text>
      <Progress.Root size="sm" mt={4}>
        <Progress.Section value={percentage} aria-label={t`Conversion of ${title}`} />
      </Progress.Root>
    </div>
  );
}
