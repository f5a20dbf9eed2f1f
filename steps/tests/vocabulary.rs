//! docs/steps.md, written from the code: every step with its keywords and its explanation, noun by noun.
//!
//! `make docs` writes the page (`UPDATE_EXPECT=1`); without it this test compares.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cucumber::feature::Ext as _;
use expect_test::expect_file;
use steps::vocabulary::StepShape;
use syn::{Attribute, Expr, ExprLit, Item, ItemFn, Lit, Meta};

/// Chapters of docs/steps.md, in the order in which a reader needs them, each with the files of its steps.
const CHAPTERS: [(&str, &[&str]); 15] = [
    ("Fleets and members", &["member"]),
    ("Hundreds of members", &["hollow"]),
    (
        "Networks, API servers, credentials, clocks and backups",
        &["network", "api_server", "aggregated_api", "request_limits", "credentials", "clock", "backup"],
    ),
    ("Placements", &["placement", "included_objects", "policy", "applying", "overrides", "eviction"]),
    ("Resources of placements: Deployments and envelopes", &["workload", "envelope"]),
    ("Update runs", &["update_run"]),
    ("Approval requests", &["approval"]),
    (
        "Any object",
        &["conditions", "fields", "kubectl_get", "kubectl_list", "deleting", "finalizer", "forged_condition"],
    ),
    ("The diagnosis", &["diagnosing"]),
    ("The hub: its agent, its etcd, logs and admission policies", &["hub", "logs", "admission"]),
    ("Upgrades of KubeFleet and Argo CD", &["upgrade"]),
    ("Git repositories", &["repository", "repository_access"]),
    (
        "Applications of Argo CD",
        &[
            "application",
            "application_deletion",
            "project",
            "hub_application",
            "resource_results",
            "syncing",
            "operation_attempts",
            "settings",
        ],
    ),
    ("Clusters that Applications deploy to", &["destination", "registration", "member_object", "webhook"]),
    ("ApplicationSets of Argo CD", &["application_set"]),
];

/// cucumber's own parameters that steps here use.
const BUILT_IN: [(&str, &str); 2] =
    [("string", "A text in double quotes, mostly a name: `\"web\"`."), ("int", "A whole number: `15`.")];

const INTRODUCTION: &str = "\
# Steps

The steps that features are written in. `fleetdrill list --steps` prints this page. How to write a feature with them, what
names mean and how long steps wait: [writing-features.md](writing-features.md).

Each shape stands with the keywords that it can follow. `And` and `But` count as the keyword before them. Names between braces are
explained at the end of the page; a name that ends in `?` stands for words that may be left out.
";

const END: &str = "\n<!-- Written from steps/src by `make docs`. Change the doc comments there. -->\n";

/// A step definition: one function.
struct Step {
    /// Each shape with its keywords.
    shapes: Vec<(String, Vec<&'static str>)>,
    explanation: String,
    function: String,
    takes_table: bool,
}

/// A chapter of steps.
struct Chapter {
    heading: &'static str,
    steps: Vec<Step>,
}

#[test]
fn docs_steps_md_is_what_the_code_says() {
    let (chapters, examples) = (chapters(), examples());
    let mut page = INTRODUCTION.to_owned();
    for chapter in &chapters {
        let _ = write!(page, "\n## {}\n", chapter.heading);
        for step in &chapter.steps {
            page.push('\n');
            for (shape, keywords) in &step.shapes {
                let _ = writeln!(page, "### `{shape}`\n\n*{}.*", keywords.join(", "));
            }
            let _ = writeln!(page, "{}", step.explanation);
            let first = example(&examples, &step.shapes[0].0);
            if let Some(seconds) = settles(first) {
                let _ = writeln!(page, "\nLets up to {seconds} s pass whose end nothing tells that can be observed.");
            }
            for (shape, _) in &step.shapes {
                let _ = writeln!(page, "\n```gherkin\n{}\n```", example(&examples, shape));
            }
        }
    }
    page.push_str("\n## What stands between braces\n\n");
    for (name, explanation) in parameters() {
        let _ = writeln!(page, "- `{{{name}}}`: {}", explanation.replace('\n', "\n  "));
    }
    page.push_str("\n## How long steps wait at most\n\n");
    for (seconds, explanation) in limits() {
        let _ = writeln!(page, "- {seconds} s: {}", explanation.replace('\n', "\n  "));
    }
    page.push_str(END);
    expect_file!["../../docs/steps.md"].assert_eq(&page);
}

#[test]
fn vocabulary_json_is_what_the_code_says() {
    let examples = examples();
    let mut shapes = Vec::new();
    for chapter in chapters() {
        for step in chapter.steps {
            shapes.extend(step.shapes.into_iter().map(|(shape, keywords)| StepShape {
                topic: chapter.heading.to_owned(),
                example: example(&examples, &shape).to_owned(),
                shape,
                keywords: keywords.into_iter().map(ToOwned::to_owned).collect(),
                explanation: step.explanation.clone(),
            }));
        }
    }
    let text = serde_json::to_string_pretty(&shapes).expect("JSON") + "\n";
    expect_file!["../vocabulary.json"].assert_eq(&text);
}

#[test]
fn every_step_is_explained_and_every_table_described() {
    for chapter in chapters() {
        for step in &chapter.steps {
            let place = format!("{} of {}", step.function, chapter.heading);
            assert!(!step.explanation.is_empty(), "{place} has no doc comment");
            let describes = |what: &str| step.explanation.contains(what);
            // A step takes a table or, between lines of """, a text.
            let describes_table = describes("table") || describes("olumns") || describes("the step's text");
            assert!(
                !step.takes_table || describes_table,
                "{place} takes a table that its doc comment doesn't describe"
            );
        }
    }
}

#[test]
fn the_examples_for_writers_are_defined_to_the_last_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/writing-features.md");
    let page = fs::read_to_string(path).expect("the page");
    let examples: Vec<&str> = page.split("```gherkin\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty(), "the page has no example");
    let vocabulary = steps::World::vocabulary();
    for example in examples {
        let feature = gherkin::Feature::parse(example, gherkin::GherkinEnv::default()).expect("Gherkin");
        let background = feature.background.iter().flat_map(|b| &b.steps);
        for step in background.chain(feature.scenarios.iter().flat_map(|s| &s.steps)) {
            let found = vocabulary.find(step).expect("one definition");
            assert!(found.is_some(), "no step is defined like this: {} {}", step.keyword, step.value);
        }
    }
}

#[test]
fn each_file_of_steps_is_in_a_chapter() {
    let listed: Vec<&str> = CHAPTERS.iter().flat_map(|(_, files)| *files).copied().collect();
    for path in sources() {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        assert_eq!(!steps_in(&path).is_empty(), listed.contains(&name.as_str()), "{name}.rs and CHAPTERS");
    }
}

/// Chapters of steps that only features of their subject need.
const SPECIAL_CHAPTERS: [&str; 3] =
    ["Hundreds of members", "Networks, API servers, credentials, clocks and backups", "ApplicationSets of Argo CD"];

/// A vocabulary that its authors can hold in mind, for the failures of fifteen guides, 120 shapes; for Argo CD's registrations of members,
/// projects, served repositories and deletions, 8 more; and for its upgrades, its documents and objects that others delete, 3. The steps of
/// special chapters don't count: who writes a feature about a few members and Applications doesn't need them.
#[test]
fn there_are_no_more_shapes_than_needed() {
    let chapters = chapters();
    let common = chapters.iter().filter(|chapter| !SPECIAL_CHAPTERS.contains(&chapter.heading));
    let shapes: usize = common.flat_map(|chapter| &chapter.steps).map(|step| step.shapes.len()).sum();
    assert!(shapes <= 131, "{shapes} shapes: can an optional phrase or a table take the place of one?");
}

/// Files of steps/src whose code may sleep: the two kinds of pauses of steps, and the progress that is told beside a step.
const SLEEPERS: [&str; 2] = ["pauses.rs", "context/mod.rs"];

#[test]
fn no_step_sleeps_but_by_a_named_pause() {
    let mut sleepers = Vec::new();
    let context =
        fs::read_dir(source_dir().join("context")).expect("a directory").map(|entry| entry.expect("an entry").path());
    for path in sources().into_iter().chain(context) {
        let code = fs::read_to_string(&path).expect("a source file");
        if ["sleep(", "sleep_until(", "interval(", "interval_at("].iter().any(|call| code.contains(call)) {
            sleepers.push(path.strip_prefix(source_dir()).expect("a source").display().to_string());
        }
    }
    sleepers.sort();
    let mut allowed = SLEEPERS.map(str::to_owned);
    allowed.sort();
    assert_eq!(sleepers, allowed, "wait on something that is observed, or declare what settles");
}

/// Functions that settle, or let others settle, by file: the steps above them declare it.
const SETTLERS: [(&str, usize); 3] = [("included_objects.rs", 1), ("placement_objects.rs", 1), ("upgrade.rs", 2)];

#[test]
fn each_time_that_settles_is_known_and_declared() {
    for path in sources() {
        let code = fs::read_to_string(&path).expect("a source file");
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let known = SETTLERS.iter().find(|(file, _)| *file == name).map_or(0, |(_, count)| *count);
        assert_eq!(code.matches(" settle(").count() - usize::from(name == "pauses.rs"), known, "{name}");
    }
    assert_eq!(settles("When KubeFleet is upgraded"), Some(20));
    assert_eq!(settles("When hub and members run different versions of KubeFleet"), Some(20));
    assert_eq!(settles("When the resources of placement \"web\" change"), Some(1));
    assert_eq!(settles("When a resource snapshot of placement \"web\" is taken"), Some(1));
    assert_eq!(settles("Then placement \"web\" becomes available on \"member-1\""), None);
}

/// Seconds that a step lets pass whatever it observes.
fn settles(step: &str) -> Option<u64> {
    let text = format!("Feature: f\n  Scenario: s\n    {step}\n");
    let feature = gherkin::Feature::parse(text, gherkin::GherkinEnv::default()).expect("Gherkin");
    let time = steps::needs(&feature.scenarios[0].steps[0]).settles;
    (!time.is_zero()).then_some(time.as_secs())
}

fn chapters() -> Vec<Chapter> {
    let steps = |files: &[&str]| {
        files.iter().flat_map(|file| steps_in(&source_dir().join(format!("{file}.rs")))).collect::<Vec<_>>()
    };
    CHAPTERS.iter().map(|(heading, files)| Chapter { heading, steps: steps(files) }).collect()
}

fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(source_dir()).expect("the sources").map(|entry| entry.expect("an entry").path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn steps_in(path: &Path) -> Vec<Step> {
    let file = parse(path);
    let functions =
        file.items.iter().filter_map(|item| if let Item::Fn(function) = item { Some(function) } else { None });
    functions.filter_map(step).collect()
}

fn example<'a>(examples: &'a BTreeMap<String, String>, shape: &str) -> &'a str {
    examples.get(shape).unwrap_or_else(|| panic!("no feature and no exercise has a step like `{shape}`"))
}

/// The shortest step of each shape in the features, or else in the exercises.
fn examples() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = Vec::new();
    for dir in ["features/kubefleet", "features/argocd"] {
        let mut files: Vec<PathBuf> =
            fs::read_dir(root.join(dir)).expect("features").map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        texts.extend(files.iter().map(|file| fs::read_to_string(file).expect("a feature")));
    }
    let mut examples = BTreeMap::new();
    for text in texts {
        note_examples(&text, &mut examples);
    }
    let mut exercises: Vec<PathBuf> =
        fs::read_dir(root.join("exercises")).expect("exercises").map(|entry| entry.expect("an entry").path()).collect();
    exercises.sort();
    for file in exercises {
        let mut of_exercise = BTreeMap::new();
        for block in fs::read_to_string(file).expect("an exercise").split(": |\n").skip(1) {
            let is_step =
                |line: &&str| ["Given ", "When ", "Then ", "And ", "|"].iter().any(|word| line.starts_with(word));
            let lines: Vec<&str> = block.lines().map(str::trim).take_while(is_step).collect();
            note_examples(&format!("Feature: f\n  Scenario: s\n{}\n", lines.join("\n")), &mut of_exercise);
        }
        for (shape, example) in of_exercise {
            examples.entry(shape).or_insert(example);
        }
    }
    examples
}

fn note_examples(text: &str, examples: &mut BTreeMap<String, String>) {
    let vocabulary = steps::World::vocabulary();
    let mut undefined: Vec<String> = Vec::new();
    let feature = gherkin::Feature::parse(text, gherkin::GherkinEnv::default()).expect("Gherkin");
    let feature = feature.expand_examples().expect("examples");
    let background = feature.background.iter().flat_map(|background| &background.steps);
    for step in background.chain(feature.scenarios.iter().flat_map(|scenario| &scenario.steps)) {
        let Ok(Some((_, _, Some(location), _))) = vocabulary.find(step) else {
            undefined.push(step.value.clone());
            continue;
        };
        let example = format!("{:?} {}", step.ty, step.value);
        let shape = shape_at(location.path, location.line);
        match examples.get(&shape) {
            Some(known) if known.len() <= example.len() => {}
            _ => drop(examples.insert(shape, example)),
        }
    }
    assert!(undefined.is_empty(), "not defined: {undefined:#?}");
}

/// The shape in the attribute that begins in a line of a source file.
fn shape_at(path: &str, line: u32) -> String {
    let source =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).expect("a source file");
    let from: Vec<&str> = source.lines().skip(line as usize - 1).collect();
    let text = from.join("\n");
    let end = text.find(")]").expect("the end of an attribute");
    let item: ItemFn = syn::parse_str(&format!("{})] fn f() {{}}", &text[..end])).expect("an attribute");
    shape(&item.attrs[0])
}

fn step(function: &ItemFn) -> Option<Step> {
    let mut shapes: Vec<(String, Vec<&'static str>)> = Vec::new();
    for (name, keyword) in [("given", "Given"), ("when", "When"), ("then", "Then")] {
        for shape in function.attrs.iter().filter(|a| a.path().is_ident(name)).map(shape) {
            match shapes.iter_mut().find(|(known, _)| *known == shape) {
                Some((_, keywords)) => keywords.push(keyword),
                None => shapes.push((shape, vec![keyword])),
            }
        }
    }
    let takes_table = function.sig.inputs.iter().any(|input| {
        matches!(input, syn::FnArg::Typed(typed) if matches!(&*typed.pat, syn::Pat::Ident(name) if name.ident == "step"))
    });
    let step =
        Step { shapes, explanation: doc(&function.attrs), function: function.sig.ident.to_string(), takes_table };
    (!step.shapes.is_empty()).then_some(step)
}

/// `"text"`, or the value of `expr = "text"` or `regex = "text"`.
fn shape(attribute: &Attribute) -> String {
    let expression: Expr = attribute.parse_args().expect("a step's attribute has one argument");
    match &expression {
        Expr::Assign(assign) => text(&assign.right),
        other => text(other),
    }
    .expect("a step's shape is a text")
}

/// The parameters' names and doc comments.
fn parameters() -> Vec<(String, String)> {
    let built_in = BUILT_IN.iter().map(|(name, explanation)| ((*name).to_owned(), (*explanation).to_owned()));
    let items = ["params.rs", "phrases.rs"].into_iter().flat_map(|file| parse(&source_dir().join(file)).items);
    let items: Vec<Item> = items.collect();
    let own = items.iter().filter_map(|item| {
        let attributes = match item {
            Item::Struct(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            _ => return None,
        };
        let param = attributes.iter().find(|a| a.path().is_ident("param"))?;
        let mut name = None;
        let parsed = param.parse_nested_meta(|meta| {
            let value: Lit = meta.value()?.parse()?;
            if let (true, Lit::Str(text)) = (meta.path.is_ident("name"), value) {
                name = Some(text.value());
            }
            Ok(())
        });
        parsed.expect("a parameter's attribute");
        let name = name?;
        let explanation = doc(attributes);
        assert!(!explanation.is_empty(), "parameter {name} has no doc comment");
        Some((name, explanation))
    });
    built_in.chain(own).collect()
}

/// The limits in seconds and what they are for.
fn limits() -> Vec<(String, String)> {
    let file = parse(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/limits.rs"));
    let constants = file.items.iter().filter_map(|item| if let Item::Const(item) = item { Some(item) } else { None });
    let limit = |item: &syn::ItemConst| {
        let Expr::Call(call) = &*item.expr else { panic!("{} is no Duration::from_secs(...)", item.ident) };
        match call.args.first() {
            Some(Expr::Lit(ExprLit { lit: Lit::Int(seconds), .. })) => (seconds.to_string(), doc(&item.attrs)),
            _ => panic!("{} has no number of seconds", item.ident),
        }
    };
    constants.map(limit).collect()
}

/// The lines of a doc comment.
fn doc(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).map(|l| l.trim().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn parse(path: &Path) -> syn::File {
    let source = fs::read_to_string(path).expect("a source file");
    syn::parse_file(&source).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
