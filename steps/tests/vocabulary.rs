//! docs/steps.md, written from the code: every step with its keywords and its explanation, noun by noun.
//!
//! `make docs` writes the page (`UPDATE_EXPECT=1`); without it this test compares.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use steps::vocabulary::StepShape;
use syn::{Attribute, Expr, ExprLit, Item, ItemFn, Lit, Meta};

/// The order in which a reader needs the nouns; what isn't named here follows by its file's name.
const ORDER: [&str; 20] = [
    "member",
    "placement",
    "envelope",
    "workload",
    "policy",
    "overriding",
    "applying",
    "update_run",
    "approval",
    "upgrade",
    "repository",
    "application",
    "results",
    "syncing",
    "retries",
    "destination",
    "live",
    "settings",
    "reports",
    "diagnosing",
];

/// cucumber's own parameters that steps here use.
const BUILT_IN: [(&str, &str); 2] =
    [("string", "A text in double quotes, mostly a name: `\"web\"`."), ("int", "A whole number: `15`.")];

const INTRODUCTION: &str = "\
# Steps

The steps that features are written in. `fleetdrill list --steps` prints this page. How to write a feature with them, what
names mean and how long steps wait: [writing-features.md](writing-features.md).

Each shape stands with the keywords that it can follow. `And` and `But` count as the keyword before them.
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

/// A file of steps.
struct Noun {
    file: String,
    heading: String,
    steps: Vec<Step>,
}

#[test]
fn the_steps_that_are_waited_out_in_real_time_are_known() {
    for step in nouns().iter().flat_map(|noun| &noun.steps) {
        for (shape, _) in &step.shapes {
            let told = step.explanation.contains("With `--real-time` they are waited out");
            assert_eq!(steps::real_time::is_waited_out(shape), told, "{shape}");
        }
    }
}

#[test]
fn docs_steps_md_is_what_the_code_says() {
    let nouns = nouns();
    let mut page = INTRODUCTION.to_owned();
    for noun in &nouns {
        let _ = write!(page, "\n## {}\n", noun.heading);
        for step in &noun.steps {
            page.push('\n');
            for (shape, keywords) in &step.shapes {
                let _ = writeln!(page, "### `{shape}`\n\n*{}.*", keywords.join(", "));
            }
            let _ = writeln!(page, "{}", step.explanation);
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
    let mut shapes = Vec::new();
    for noun in nouns() {
        for step in noun.steps {
            shapes.extend(step.shapes.into_iter().map(|(shape, keywords)| StepShape {
                topic: noun.heading.clone(),
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
    for noun in nouns() {
        for step in &noun.steps {
            let place = format!("{} in {}.rs", step.function, noun.file);
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

fn nouns() -> Vec<Noun> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(dir).expect("the sources").map(|entry| entry.expect("an entry").path());
    let files = files.filter(|f| f.extension().is_some_and(|e| e == "rs"));
    let mut nouns: Vec<Noun> = files.map(|f| noun(&f)).filter(|n| !n.steps.is_empty()).collect();
    let place = |noun: &Noun| ORDER.iter().position(|o| *o == noun.file).unwrap_or(ORDER.len());
    nouns.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.file.cmp(&b.file)));
    nouns
}

fn noun(path: &Path) -> Noun {
    let file = parse(path);
    let heading = doc(&file.attrs);
    let heading = heading.lines().next().unwrap_or_default().trim_end_matches('.');
    let functions =
        file.items.iter().filter_map(|item| if let Item::Fn(function) = item { Some(function) } else { None });
    Noun {
        file: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        heading: capitalized(heading.strip_prefix("Steps about ").unwrap_or(heading)),
        steps: functions.filter_map(step).collect(),
    }
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
    let file = parse(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/params.rs"));
    let own = file.items.iter().filter_map(|item| {
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

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn parse(path: &Path) -> syn::File {
    let source = fs::read_to_string(path).expect("a source file");
    syn::parse_file(&source).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
