//! The attribute `#[needs(...)]` of step functions.

use proc_macro::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Error, ItemFn, parse_macro_input};

/// The attributes of cucumber that make a function a step.
const STEP_ATTRIBUTES: [&str; 3] = ["given", "when", "then"];

/// Declares what a step needs: fields of `steps::needs::NeedsDeclaration`; the others are [`None`] or false.
///
/// ```ignore
/// /// Stops the member's agent, as a crash or a lost node does.
/// #[needs(ability: |_| Some(ProviderAbility::StopAgents))]
/// #[when(expr = "the agent of member {string} stops")]
/// async fn agent_stops(world: &mut World, member: String) -> Result<(), StepError> { ... }
/// ```
///
/// Stands above the step's `#[given]`, `#[when]` and `#[then]`. cucumber knows a step by the file and line of such an attribute, and so
/// does the declaration: the expression in it can be reworded freely.
#[proc_macro_attribute]
pub fn needs(declaration: TokenStream, function: TokenStream) -> TokenStream {
    let function = parse_macro_input!(function as ItemFn);
    let fields = quote::__private::TokenStream::from(declaration);
    let attributes = function.attrs.iter();
    let step_attributes = attributes.filter(|a| STEP_ATTRIBUTES.iter().any(|name| a.path().is_ident(name)));
    let lines: Vec<_> = step_attributes.map(|a| quote_spanned!(a.span()=> ::std::line!())).collect();
    if lines.is_empty() {
        let text = "no step: `#[needs]` stands above `#[given]`, `#[when]` or `#[then]`";
        return Error::new(function.sig.ident.span(), text).into_compile_error().into();
    }
    quote! {
        #function

        ::inventory::submit!(crate::needs::DeclaredNeeds {
            file: ::std::file!(),
            lines: &[#(#lines),*],
            declaration: crate::needs::NeedsDeclaration { #fields, ..crate::needs::NeedsDeclaration::NOTHING },
        });
    }
    .into()
}
