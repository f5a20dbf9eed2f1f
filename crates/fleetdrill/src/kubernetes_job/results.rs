//! Results of shards as objects of Kubernetes: the record of a run, compressed, in `ConfigMaps` that the Job owns.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;
use record::RunRecord;

use crate::run_file;

/// Label of a result with the name of its Job.
pub(crate) const JOB_LABEL: &str = "fleetdrill.dev/job";

/// Annotation with the number of the shard, from 1.
const SHARD: &str = "fleetdrill.dev/shard";

/// Annotation with the name of the Pod.
const POD: &str = "fleetdrill.dev/pod";

/// Annotation with the number of the part, from 1.
const PART: &str = "fleetdrill.dev/part";

/// Annotation with the number of parts.
const PARTS: &str = "fleetdrill.dev/parts";

/// Key of the data.
const KEY: &str = "run.json.gz";

/// Number of bytes in one part. A ConfigMap takes 1 MiB, keys included.
const PART_BYTES: usize = 900 * 1024;

/// Maximum number of bytes of a record, as a guard against a decompression bomb.
const MOST_BYTES: u64 = 1 << 30;

/// Source of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultSource<'a> {
    /// Name of the Job.
    pub(crate) job: &'a str,
    /// UID of the Job.
    pub(crate) job_uid: &'a str,
    /// Name of the Pod.
    pub(crate) pod: &'a str,
    /// Number of the shard, from 1.
    pub(crate) shard: usize,
}

/// Returns a record as `ConfigMaps`.
///
/// # Errors
/// Returns an error if the record can't be compressed.
pub(crate) fn to_objects(source: ResultSource<'_>, json: &[u8]) -> std::io::Result<Vec<ConfigMap>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json)?;
    Ok(in_parts(source, &encoder.finish()?, PART_BYTES))
}

fn in_parts(source: ResultSource<'_>, bytes: &[u8], most: usize) -> Vec<ConfigMap> {
    let parts: Vec<&[u8]> = bytes.chunks(most).collect();
    let object = |(number, part): (usize, &&[u8])| {
        let annotations = [
            (SHARD, source.shard.to_string()),
            (POD, source.pod.to_owned()),
            (PART, number.to_string()),
            (PARTS, parts.len().to_string()),
        ];
        ConfigMap {
            metadata: ObjectMeta {
                name: Some(format!("{}-result-{number}", source.pod)),
                labels: Some(BTreeMap::from([(JOB_LABEL.to_owned(), source.job.to_owned())])),
                annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
                owner_references: Some(vec![owner(source.job, source.job_uid)]),
                ..ObjectMeta::default()
            },
            binary_data: Some(BTreeMap::from([(KEY.to_owned(), ByteString(part.to_vec()))])),
            immutable: Some(true),
            ..ConfigMap::default()
        }
    };
    (1..).zip(&parts).map(object).collect()
}

/// Returns the reference that makes an object go with its Job.
pub(crate) fn owner(job: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: "batch/v1".to_owned(),
        kind: "Job".to_owned(),
        name: job.to_owned(),
        uid: uid.to_owned(),
        ..OwnerReference::default()
    }
}

/// A result that can't be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the result of Pod {pod} can't be read: {why}")]
pub(crate) struct UnreadableResult {
    /// Name of the Pod.
    pod: String,
    /// What is wrong.
    why: String,
}

/// Parts of a Pod's result.
struct PodParts<'a> {
    shard: usize,
    parts: usize,
    bytes: BTreeMap<usize, &'a [u8]>,
}

/// Returns the record of each shard, by its number. A result of which a part is missing counts as none. If several Pods of a shard have
/// published a result, the last run's counts.
///
/// # Errors
/// Returns an error if a complete result isn't the record of a run.
pub(crate) fn of_objects(objects: &[ConfigMap]) -> Result<BTreeMap<usize, RunRecord>, UnreadableResult> {
    let mut pods = BTreeMap::<&str, PodParts<'_>>::new();
    for object in objects {
        let Some((pod, shard, part, parts)) = place(object) else { continue };
        let Some(bytes) = object.binary_data.as_ref().and_then(|data| data.get(KEY)) else { continue };
        let known = pods.entry(pod).or_insert_with(|| PodParts { shard, parts, bytes: BTreeMap::new() });
        known.bytes.insert(part, &bytes.0);
    }
    let mut shards = BTreeMap::<usize, RunRecord>::new();
    for (pod, PodParts { shard, parts, bytes }) in pods {
        if bytes.len() != parts {
            continue;
        }
        let unreadable = |why: String| UnreadableResult { pod: pod.to_owned(), why };
        let compressed: Vec<u8> = bytes.into_values().flatten().copied().collect();
        let mut json = String::new();
        let mut decoder = GzDecoder::new(compressed.as_slice()).take(MOST_BYTES);
        decoder.read_to_string(&mut json).map_err(|error| unreadable(error.to_string()))?;
        let record = run_file::parse(&json).map_err(|error| unreadable(error.to_string()))?;
        match shards.get(&shard) {
            Some(other) if other.started_at > record.started_at => {}
            _ => drop(shards.insert(shard, record)),
        }
    }
    Ok(shards)
}

/// Returns the Pod, the shard, the part and the number of parts of a result.
fn place(object: &ConfigMap) -> Option<(&str, usize, usize, usize)> {
    let annotations = object.metadata.annotations.as_ref()?;
    let number = |key: &str| annotations.get(key)?.parse::<usize>().ok();
    Some((annotations.get(POD)?, number(SHARD)?, number(PART)?, number(PARTS)?))
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use report::run::{ReportFile, ReportFormat, fixture};

    use super::*;

    fn source(pod: &str, shard: usize) -> ResultSource<'_> {
        ResultSource { job: "drill", job_uid: "uid", pod, shard }
    }

    fn json(run: &RunRecord) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        ReportFile::new(ReportFormat::Json, &path).write(run).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn a_record_in_many_parts_comes_back_as_it_was() {
        let whole = to_objects(source("drill-0-x", 1), &json(&fixture::run())).unwrap();
        let bytes = &whole[0].binary_data.as_ref().unwrap()[KEY].0;
        let mut parts = in_parts(source("drill-0-x", 1), bytes, 100);
        assert!(parts.len() > 10, "part 10 comes after part 9");
        assert!(parts.iter().all(|part| part.binary_data.as_ref().unwrap()[KEY].0.len() <= 100));
        parts.reverse();
        assert_eq!(of_objects(&parts).unwrap(), BTreeMap::from([(1, fixture::run())]));
        parts.pop();
        assert_eq!(of_objects(&parts).unwrap(), BTreeMap::new(), "the Pod was killed while it published");
    }

    #[test]
    fn of_a_shard_that_ran_twice_the_last_run_counts() {
        let early = fixture::run();
        let late = RunRecord { id: "late".to_owned(), started_at: early.started_at + 60.seconds(), ..early.clone() };
        let [early, late] =
            [("b", &early), ("a", &late)].map(|(pod, run)| to_objects(source(pod, 2), &json(run)).unwrap());
        for objects in [[early.clone(), late.clone()].concat(), [late, early].concat()] {
            assert_eq!(of_objects(&objects).unwrap()[&2].id, "late");
        }
    }

    #[test]
    fn an_unreadable_result_names_its_pod() {
        let objects = to_objects(source("drill-0-x", 1), b"{}").unwrap();
        let error = of_objects(&objects).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the result of Pod drill-0-x can't be read: missing field `id` at line 1 column 2"
        );
        let foreign = ConfigMap::default();
        assert_eq!(of_objects(&[foreign]).unwrap(), BTreeMap::new());
    }
}
